"""Restores a checkpoint that fits the graph, and says of another one where it does not fit."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk, search_state

tf1 = tf.compat.v1

_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_NAMES_SHOWN = 20
_REMEDY = (
    "To begin a new run with the values that fit, use another model_dir and warm_start_from (in a "
    "graph of your own, tf.compat.v1.train.warm_start)."
)


def restoring_scaffold(scaffold, path):
    """Returns a scaffold that restores by a `FittingSaver` and is otherwise like `scaffold`.

    Args:
      scaffold: `tf.compat.v1.train.Scaffold`; it is finalized.
      path: str, the checkpoint that will be restored, or None.

    Returns:
      A `tf.compat.v1.train.Scaffold` for a session creator.
    """
    saver = FittingSaver(_saver_of(scaffold))
    if path is not None and not tf1.get_default_graph().finalized:
        saver.prepare(path)
    scaffold.finalize()
    init_fn = scaffold.init_fn
    return tf1.train.Scaffold(
        # A user's init_fn is given the user's scaffold.
        init_fn=init_fn and (lambda _, session: init_fn(session)),
        saver=saver,
        copy_from_scaffold=scaffold,
    )


class FittingSaver:
    """Restores by a saver, except for the line search's state that a checkpoint lacks.

    That state is initialized, so that a run can go on with the line search switched on. What
    else does not fit is an error that lists it.

    Args:
      saver: `tf.compat.v1.train.Saver`.
    """

    def __init__(self, saver):
        self._saver = saver
        self._without_search = None

    def prepare(self, path):
        """Adds what restoring `path` needs to the graph, which must not be finalized yet."""
        self._saver.build()
        lacking = self._search_state_lacking(path)
        if lacking:
            self._without_search = tf1.train.Saver(
                self._restored_without(lacking), name="restore_without_search"
            )

    def build(self):
        """Does nothing: a scaffold calls it, when all is built."""

    def restore(self, session, path):
        """Restores all variables.

        Args:
          session: `tf.compat.v1.Session`.
          path: str, the checkpoint's path without extension.

        Raises:
          UsageError: the checkpoint does not fit; the variables that it lacks, those that the
            graph has no use for and those of another shape are listed.
        """
        saved, wanted = variables_in(path), _restored_names(self._saver)
        lacking = self._search_state_lacking(path) if self._without_search else []
        _check_fit(path, saved, wanted - {variable.op.name for variable in lacking})
        saver = self._without_search if lacking else self._saver
        saver.restore(session, path)
        if lacking:
            session.run([variable.initializer for variable in lacking])
            tf1.logging.info(
                "%s has no state of the line search, which starts anew: %s",
                path,
                ", ".join(variable.op.name for variable in lacking),
            )

    def _search_state_lacking(self, path):
        state = tf1.get_collection(search_state.COLLECTION)
        if not state:
            return []
        saved, wanted = variables_in(path), _restored_names(self._saver)
        return [v for v in state if v.op.name in wanted and v.op.name not in saved]

    def _restored_without(self, lacking):
        """Returns what our saver restores, in the form that a saver is made of."""
        names = _restored_names(self._saver) - {variable.op.name for variable in lacking}
        variables = [v for v in tf1.global_variables() if saved_form(v)[0] in names]
        others = tf1.get_collection(tf1.GraphKeys.SAVEABLE_OBJECTS)
        return variables + [o for o in others if any(spec.name in names for spec in o.specs)]


def variables_in(path):
    """Returns the variables of a checkpoint, but not what else it holds, such as the input's state.

    Args:
      path: str, the checkpoint's path without extension, or a directory with checkpoints.

    Returns:
      Dict of name to shape, a list of int.
    """
    reader = tf.train.load_checkpoint(path)
    dtypes = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    return {name: shape for name, shape in shapes.items() if dtypes[name] != tf.variant}


def _saver_of(scaffold):
    """Returns the saver that finalizing the scaffold would choose."""
    if scaffold.saver is None and not tf1.get_collection(tf1.GraphKeys.SAVERS):
        saver = tf1.train.Saver(sharded=True, allow_empty=True, defer_build=True)
        tf1.add_to_collection(tf1.GraphKeys.SAVERS, saver)
    return scaffold.saver or tf1.get_collection(tf1.GraphKeys.SAVERS)[0]


def _restored_names(saver):
    """Returns the names that a saver looks for in a checkpoint; they are in its restore ops."""
    graph = tf1.get_default_graph()
    saver_def = saver.as_saver_def()
    if saver_def is None or not saver_def.restore_op_name:
        return set()
    restore_op = graph.get_operation_by_name(saver_def.restore_op_name)
    readers = (graph.get_operation_by_name(name) for name in graph_walk.ancestors([restore_op]))
    return {
        name.decode()
        for reader in readers
        if reader.type == "RestoreV2"
        for name in tf.get_static_value(reader.inputs[1])
    }


def saved_form(variable):
    """Returns how a variable, or the whole that it is a part of, is saved.

    Of a partitioned variable's part only this attribute knows the whole.
    """
    part = variable._save_slice_info
    if part is None:
        return variable.op.name, variable.shape
    return part.full_name, tf.TensorShape(part.full_shape)


def _check_fit(path, saved, wanted):
    """Refuses a checkpoint that does not fit, of which TensorFlow would not notice all.

    It restores a resource variable whatever its shape in the checkpoint.
    """
    if _OBJECT_GRAPH in saved:
        raise UsageError(
            f"The checkpoint {path} was written by tf.train.Checkpoint or Keras, which name "
            f"what they save by objects: it cannot be resumed. {_REMEDY}"
        )
    missing = sorted(wanted - set(saved))
    shapes = dict(map(saved_form, tf1.global_variables()))
    changed = [
        f"{name} ({saved[name]} in the checkpoint, {shapes[name].as_list()} in the graph)"
        for name in sorted(wanted & set(saved) & set(shapes))
        if not shapes[name].is_compatible_with(saved[name])
    ]
    if missing or changed:
        raise UsageError(
            f"The checkpoint {path} does not fit the graph. Missing in the checkpoint: "
            f"{listed(missing)}. Unused by the graph: {listed(sorted(set(saved) - wanted))}. "
            f"Changed in shape: {listed(changed)}. {_REMEDY}"
        )


def listed(names):
    """Returns names in one line, the last of a long list only counted."""
    shown = ", ".join(names[:_NAMES_SHOWN]) or "none"
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
