"""Evaluates a trained model on the test images of its data set, or of another one."""

import json

import _quiet  # noqa: F401
import _saved_run
from absl import flags

from graphtrain import app, datasets


def define_flags(flag_values=flags.FLAGS):
    _saved_run.define_flags(flag_values)
    flags.DEFINE_enum(
        "data", None, datasets.NAMES, "the data set, by default that of the run", flag_values
    )
    flags.DEFINE_string("data_dir", None, "the folder of its idx or npz files", flag_values)


def main(values):
    settings = _saved_run.load(values.model_dir)
    if values.data is None and values.data_dir is None:
        data = datasets.load(settings["data"], settings["data_dir"])
    else:
        data = datasets.load(values.data or settings["data"], values.data_dir)
    metrics = _saved_run.classifier(values.model_dir, settings).evaluate(
        datasets.image_input_fn(
            data.test_images, data.test_labels, batch_size=values.eval_batch_size, epochs=1
        )
    )
    print(json.dumps({name: value.item() for name, value in metrics.items()}))


if __name__ == "__main__":
    define_flags()
    app.run(main)
