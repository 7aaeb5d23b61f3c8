"""Exports a trained model as a SavedModel, for tf.saved_model.load and TensorFlow Serving."""

import os

import _quiet  # noqa: F401
import _saved_run
import tensorflow as tf
from absl import flags

from graphtrain import app, export
from graphtrain.errors import UsageError
from graphtrain.session.error_text import in_one_line


def define_flags(flag_values=flags.FLAGS):
    _saved_run.define_flags(flag_values)
    flags.DEFINE_string(
        "export_dir", None, "each export is a new folder in it", flag_values, required=True
    )


def main(values):
    settings = _saved_run.load(values.model_dir)
    images = {"image": tf.zeros([1, 28, 28])}
    classifier = _saved_run.classifier(values.model_dir, settings)
    try:
        path = classifier.export_saved_model(
            values.export_dir, export.build_raw_serving_input_receiver_fn(images)
        )
    except (tf.errors.FailedPreconditionError, tf.errors.PermissionDeniedError) as error:
        reason = in_one_line(error)
        raise UsageError(f"{values.export_dir} cannot be written to: {reason}") from error
    print(os.fsdecode(path))


if __name__ == "__main__":
    define_flags()
    app.run(main)
