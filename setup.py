"""Packaging of graphtrain."""

import pathlib

import setuptools

HERE = pathlib.Path(__file__).parent

PANDAS = ["pandas>=1.5"]
# Each release needs the TensorFlow of the same number, by which pip chooses it.
LEGACY_KERAS = ["tf_keras>=2.16"]
PLOT = ["matplotlib>=3.6"]
TEST_PACKAGES = ["pytest>=7", "hypothesis>=6", "tensorboard>=2.16", "ruff>=0.6"]

setuptools.setup(
    name="graphtrain",
    version="0.1.0",
    description="Trains TF1-style TensorFlow graphs on current TensorFlow, with a line search",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=setuptools.find_packages(include=["graphtrain", "graphtrain.*"]),
    package_data={"graphtrain.datasets": ["*.npz"]},
    install_requires=["tensorflow>=2.16", "absl-py>=1.4", "numpy>=1.23", "tqdm>=4.60"],
    extras_require={
        "legacy-keras": LEGACY_KERAS,
        "pandas": PANDAS,
        "test": [*TEST_PACKAGES, *LEGACY_KERAS, *PANDAS, *PLOT],
        "tensorboard": ["tensorboard>=2.16"],
        "plot": PLOT,
    },
    classifiers=[
        "License :: OSI Approved :: Apache Software License",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
