"""Estimator.export_saved_model: a fresh graph of the model, a checkpoint, a SavedModel."""

import os
import time

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator import spec as specs
from graphtrain.export import signatures
from graphtrain.session import checkpoints

tf1 = tf.compat.v1


def export_saved_model(
    model,
    export_dir_base,
    serving_input_receiver_fn,
    *,
    assets_extra=None,
    as_text=False,
    checkpoint_path=None,
    clock=time.time,
):
    """Exports a model; see `Estimator.export_saved_model`.

    Args:
      clock: function that returns seconds since the epoch; they name the new directory.

    Returns:
      str, the directory of the SavedModel.
    """
    if not callable(serving_input_receiver_fn):
        raise UsageError(
            f"serving_input_receiver_fn must be callable, got {serving_input_receiver_fn!r}."
        )
    checkpoint_path = checkpoint_path or checkpoints.newest(model.model_dir)
    if checkpoint_path is None:
        raise UsageError(f"There is no checkpoint in {model.model_dir} to export: train first.")
    export_dir = _new_directory(os.fspath(export_dir_base), int(clock()))
    # A server takes only directories whose names are numbers, so it never sees half a model.
    base, name = os.path.split(export_dir)
    unfinished = os.path.join(base, f"temp-{name}")
    try:
        builder = tf1.saved_model.Builder(unfinished)
        with tf.Graph().as_default():
            _add_graph_and_variables(builder, model, serving_input_receiver_fn, checkpoint_path)
            builder.save(as_text)
        _copy_assets(unfinished, assets_extra or {})
        tf.io.gfile.rename(unfinished, export_dir)
    except BaseException:
        if tf.io.gfile.exists(unfinished):
            tf.io.gfile.rmtree(unfinished)
        raise
    tf1.logging.info("exported %s to %s", checkpoint_path, export_dir)
    return export_dir


def _add_graph_and_variables(builder, model, serving_input_receiver_fn, checkpoint_path):
    model.start_graph()
    receiver = serving_input_receiver_fn()
    spec = model.call_model_fn(receiver.features, None, specs.ModeKeys.PREDICT)
    signature_defs = signatures.build(receiver, spec.export_outputs)
    saver = spec.scaffold.saver or tf1.train.Saver(sharded=True)
    local_init_op = spec.scaffold.local_init_op
    if local_init_op is None:
        local_init_op = tf1.train.Scaffold.default_local_init_op()
    with tf1.Session(config=model.session_config) as session:
        _restore(session, saver, checkpoint_path)
        builder.add_meta_graph_and_variables(
            session,
            tags=[tf.saved_model.SERVING],
            signature_def_map=signature_defs,
            assets_collection=tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS),
            main_op=local_init_op,
            strip_default_attrs=True,
            saver=saver,
        )


def _restore(session, saver, checkpoint_path):
    try:
        saver.restore(session, checkpoint_path)
    except tf.errors.NotFoundError as error:
        saved = tf.train.load_checkpoint(checkpoint_path).get_variable_to_shape_map()
        names = [variable.op.name for variable in tf1.global_variables()]
        lacking = [name for name in names if name not in saved]
        raise UsageError(
            f"The checkpoint {checkpoint_path} lacks {', '.join(lacking)}, which the model_fn "
            f"makes in mode {specs.ModeKeys.PREDICT!r}."
        ) from error


def _new_directory(base, seconds):
    """Returns a directory that is not there yet, named by a number that none has had."""
    while tf.io.gfile.exists(os.path.join(base, str(seconds))):
        seconds += 1
    return os.path.join(base, str(seconds))


def _copy_assets(export_dir, assets_extra):
    for destination, source in assets_extra.items():
        path = os.path.join(export_dir, "assets.extra", destination)
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(source, path)
