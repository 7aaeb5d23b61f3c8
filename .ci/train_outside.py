"""Trains a few steps on the embedded sample, outside the repository.

The argument is the environment that graphtrain must come from.
"""

import sys
import tempfile

import graphtrain
from graphtrain import datasets, models

if not graphtrain.__file__.startswith(sys.argv[1]):
    sys.exit(f"graphtrain comes from {graphtrain.__file__}, not from {sys.argv[1]}")

data = datasets.load("sample")
with tempfile.TemporaryDirectory() as model_dir:
    classifier = graphtrain.Estimator(
        models.mlp_model_fn, model_dir=model_dir, params={"train_step": "line_search"}
    )
    classifier.train(
        datasets.image_input_fn(data.train_images, data.train_labels, batch_size=32),
        max_steps=100,
    )
    metrics = classifier.evaluate(
        datasets.image_input_fn(data.test_images, data.test_labels, batch_size=500, epochs=1)
    )
print(f"step {metrics['global_step']}, accuracy {metrics['accuracy']:.3f}")
if metrics["accuracy"] < 0.7:
    sys.exit("That is too low for 100 steps.")
