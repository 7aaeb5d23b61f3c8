"""Writes the class and the probabilities of images as JSON lines."""

import contextlib
import json
import sys

import _quiet  # noqa: F401
import _saved_run
from absl import flags

from graphtrain import app, datasets


def define_flags(flag_values=flags.FLAGS):
    _saved_run.define_flags(flag_values)
    flags.DEFINE_string(
        "images", None, "an npz, idx or PNG file of 28 x 28 pixels", flag_values, required=True
    )
    flags.DEFINE_string("output", None, "the file to write, by default stdout", flag_values)


def main(values):
    settings = _saved_run.load(values.model_dir)
    images = datasets.read_images(values.images)
    input_fn = datasets.image_input_fn(images, batch_size=values.eval_batch_size, epochs=1)
    predictions = list(_saved_run.classifier(values.model_dir, settings).predict(input_fn))
    with _opened(values.output) as output:
        for index, prediction in enumerate(predictions):
            line = {
                "index": index,
                "class": int(prediction["class"]),
                "probabilities": prediction["probabilities"].tolist(),
            }
            print(json.dumps(line), file=output)


def _opened(path):
    return contextlib.nullcontext(sys.stdout) if path is None else open(path, "w", encoding="utf-8")


if __name__ == "__main__":
    define_flags()
    app.run(main)
