"""Estimator.export_saved_model: a fresh graph of the model, a checkpoint, a SavedModel."""

import os
import time

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.estimator import spec as specs
from graphtrain.export import signatures
from graphtrain.export.supervised import SupervisedOutput
from graphtrain.session import checkpoints
from graphtrain.session.fitting_saver import FittingSaver

tf1 = tf.compat.v1


_TAGS = {
    specs.ModeKeys.TRAIN: "train",
    specs.ModeKeys.EVAL: "eval",
    specs.ModeKeys.PREDICT: tf.saved_model.SERVING,
}


def export_saved_model(
    model,
    export_dir_base,
    receiver_fns,
    *,
    assets_extra=None,
    as_text=False,
    checkpoint_path=None,
    clock=time.time,
):
    """Exports a model; see `Estimator.experimental_export_all_saved_models`.

    Args:
      receiver_fns: dict of mode to the function that returns its input receiver.
      clock: function that returns seconds since the epoch; they name the new directory.

    Returns:
      str, the directory of the SavedModel.
    """
    _check_receiver_fns(receiver_fns)
    checkpoint_path = checkpoint_path or checkpoints.newest(model.model_dir)
    if checkpoint_path is None:
        raise UsageError(f"There is no checkpoint in {model.model_dir} to export: train first.")
    export_dir = _new_directory(os.fspath(export_dir_base), int(clock()))
    # A server takes only directories whose names are numbers, so it never sees half a model.
    base, name = os.path.split(export_dir)
    unfinished = os.path.join(base, f"temp-{name}")
    try:
        builder = tf1.saved_model.Builder(unfinished)
        # The first graph's variables are exported: those of the training include all others.
        modes = [mode for mode in _TAGS if mode in receiver_fns]
        for mode in modes:
            with tf.Graph().as_default():
                save_variables_of = checkpoint_path if mode == modes[0] else None
                _add_graph(builder, model, mode, receiver_fns[mode], save_variables_of)
        builder.save(as_text)
        _copy_assets(unfinished, assets_extra or {})
        tf.io.gfile.rename(unfinished, export_dir)
    except BaseException:
        if tf.io.gfile.exists(unfinished):
            tf.io.gfile.rmtree(unfinished)
        raise
    tf1.logging.info("exported %s to %s", checkpoint_path, export_dir)
    return export_dir


def _check_receiver_fns(receiver_fns):
    if not receiver_fns:
        raise UsageError("There is no mode to export: give an input receiver function for one.")
    for mode, receiver_fn in receiver_fns.items():
        checks.one_of("mode", mode, _TAGS)
        if not callable(receiver_fn):
            name = "serving_input_receiver_fn" if mode == specs.ModeKeys.PREDICT else "receiver_fn"
            raise UsageError(f"{name} must be callable, got {receiver_fn!r}.")


def _add_graph(builder, model, mode, receiver_fn, save_variables_of):
    """Adds a mode's graph, and the variables if they are given by a checkpoint's path."""
    model.start_graph()
    receiver = receiver_fn()
    spec = model.call_model_fn(receiver.features, getattr(receiver, "labels", None), mode)
    saver = spec.scaffold.saver or tf1.train.Saver(sharded=True)
    local_init_op = spec.scaffold.local_init_op
    if local_init_op is None:
        local_init_op = tf1.train.Scaffold.default_local_init_op()
    if mode == specs.ModeKeys.TRAIN:
        _add_once(tf1.GraphKeys.TRAIN_OP, spec.train_op)
    meta_graph = {
        "tags": [_TAGS[mode]],
        "signature_def_map": signatures.build(receiver, _export_outputs(spec)),
        "assets_collection": tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS),
        "main_op": local_init_op,
        "strip_default_attrs": True,
        "saver": saver,
    }
    if save_variables_of is None:
        builder.add_meta_graph(**meta_graph)
        return
    restoring = FittingSaver(saver)
    restoring.prepare(save_variables_of)
    with tf1.Session(config=model.session_config) as session:
        restoring.restore(session, save_variables_of)
        builder.add_meta_graph_and_variables(session, **meta_graph)


def _add_once(collection, item):
    if item not in tf1.get_collection(collection):
        tf1.add_to_collection(collection, item)


def _export_outputs(spec):
    if spec.mode == specs.ModeKeys.PREDICT:
        return spec.export_outputs
    metrics = spec.eval_metric_ops
    output = SupervisedOutput(spec.mode, spec.loss, spec.predictions, metrics)
    return {spec.mode: output}


def _new_directory(base, seconds):
    """Returns a directory whose name is a greater number than those that are there.

    A server takes the greatest for the newest, also of two exports in one second.
    """
    names = tf.io.gfile.listdir(base) if tf.io.gfile.isdir(base) else []
    taken = [int(name.rstrip("/")) for name in names if name.rstrip("/").isdecimal()]
    return os.path.join(base, str(max([seconds, *(number + 1 for number in taken)])))


def _copy_assets(export_dir, assets_extra):
    for destination, source in assets_extra.items():
        path = os.path.join(export_dir, "assets.extra", destination)
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(source, path)
