"""Makes the directory from_2_15 anew; needs an environment with `tensorflow-cpu==2.15.*`.

    python tests/estimator/make_from_2_15.py

It holds a model_dir as tf.estimator 2.15 leaves it after 20 steps and an evaluation, and in
expected.json what tf.estimator 2.15 made of a copy of it: the evaluation, the predictions, and all
variables after another 10 steps; also every public name of tf.compat.v1.estimator.
"""

import json
import os
import pathlib
import shutil
import tempfile

import model_2_15
import tensorflow as tf

HERE = pathlib.Path(__file__).resolve().parent / "from_2_15"


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    os.chdir(HERE)  # Event files hold the path as it was given.
    estimator = tf.compat.v1.estimator
    trained = model_2_15.make_estimator(estimator, "model_dir")
    trained.train(model_2_15.input_fn, max_steps=20)
    metrics = trained.evaluate(lambda: model_2_15.input_fn(1))
    predictions = trained.predict(lambda: model_2_15.input_fn(1))
    expected = {
        "metrics": {name: value.item() for name, value in metrics.items()},
        "probabilities": [example["probabilities"].tolist() for example in predictions],
        "variables_at_20": variables(trained),
        "public_names": sorted(public_names("", estimator)),
    }
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree("model_dir", copy, dirs_exist_ok=True)
        resumed = model_2_15.make_estimator(estimator, copy)
        resumed.train(model_2_15.input_fn, max_steps=30)
        expected["variables_at_30"] = variables(resumed)
    pathlib.Path("expected.json").write_text(json.dumps(expected, indent=1) + "\n", "utf-8")


def variables(estimator):
    return {
        name: estimator.get_variable_value(name).tolist() for name in estimator.get_variable_names()
    }


def public_names(prefix, module):
    for name in dir(module):
        value = getattr(module, name)
        if name in ("experimental", "export", "inputs", "tpu"):
            yield from public_names(f"{prefix}{name}.", value)
        elif not name.startswith("_"):
            yield prefix + name


if __name__ == "__main__":
    main()
