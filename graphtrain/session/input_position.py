"""Where the iterators of a graph are in their data, saved to and restored from checkpoints.

TensorFlow's own saveable of an iterator is restored with the variables, at which time the
iterator must have been initialized, its feeds included; and a checkpoint without it could not be
restored at all. So positions have ops of their own here, run after the iterators' initializers.
"""

import os

import tensorflow as tf

from graphtrain.optimize import graph_walk
from graphtrain.session import inputs
from graphtrain.session.error_text import in_one_line

tf1 = tf.compat.v1

LARGE_BYTES = 100_000_000

_PREFIX = "input_position/"
_POSITIONS = "graphtrain_input_positions"
_IGNORE_STATE_OF_OPS, _FAIL_IF_OPS_HAVE_STATE = 1, 2


def of_default_graph():
    """Returns the `InputPositions` of the default graph, made if there are none.

    They add ops to the graph, so they are made before the session.

    Example:
      >>> numbers, _ = graphtrain.session.inputs.features_and_labels(tf.data.Dataset.range(9))
      >>> len(of_default_graph().saved_iterators)
      1
    """
    graph = tf1.get_default_graph()
    made = graph.get_collection(_POSITIONS)
    if made and made[-1].iterator_names == _names(_iterator_handles(graph)):
        return made[-1]
    positions = InputPositions(_iterator_handles(graph))
    graph.add_to_collection(_POSITIONS, positions)
    return positions


class InputPositions:
    """The positions of iterators.

    Args:
      handles: list of tensors of the default graph, the iterators' handles.
    """

    def __init__(self, handles):
        self.iterator_names = _names(handles)
        with tf.name_scope("input_position"):
            self._prefix = tf1.placeholder(tf.string, [], "prefix")
            self.saved_iterators = [_Iterator(handle, self._prefix) for handle in handles]
        self._warned_of_size = False

    @property
    def name(self):
        """A name in the graph: by it TensorFlow writes the collection into a MetaGraph."""
        return self._prefix.name

    def check(self, session):
        """Warns of iterators whose position cannot be saved, or not all of it.

        Args:
          session: `tf.compat.v1.Session`, whose iterators are initialized.
        """
        if not self.saved_iterators:
            return
        function_ops = _ops_by_function(session.graph)
        for iterator in list(self.saved_iterators):
            if "GeneratorDataset" in iterator.op_types(dict(function_ops)):
                self._give_up(iterator, "GeneratorDataset runs a Python generator")
                continue
            reason = iterator.reason_not_to_save(session)
            if reason is not None:
                tf1.logging.warning(
                    "the input %r holds an op with a state of its own, which no checkpoint can "
                    "hold (%s): its position is saved, but what that op gives after a resume may "
                    "be other than in an unbroken run",
                    iterator.name,
                    reason,
                )

    def save(self, session, directory):
        """Writes the positions, each as a checkpoint of its own, to be merged with others.

        Args:
          session: `tf.compat.v1.Session`.
          directory: str, where to.

        Returns:
          List of str, the paths of these checkpoints without extension.
        """
        paths, size = [], 0
        for index, iterator in enumerate(list(self.saved_iterators)):
            path = os.path.join(directory, f"input-{index}")
            try:
                session.run(iterator.save, {self._prefix: path})
            except (tf.errors.UnimplementedError, tf.errors.FailedPreconditionError) as error:
                self._give_up(iterator, in_one_line(error))
                continue
            paths.append(path)
            size += sum(tf.io.gfile.stat(file).length for file in tf.io.gfile.glob(f"{path}.*"))
        if size > LARGE_BYTES and not self._warned_of_size:
            self._warned_of_size = True
            tf1.logging.warning(
                "the input's position, shuffle buffers included, takes %d MB of each checkpoint: "
                "shuffle a smaller buffer (or file names and row numbers in place of examples), "
                "or set save_input_position=False",
                size // 1_000_000,
            )
        return paths

    def restore(self, session, path):
        """Moves the iterators to where a checkpoint says.

        Args:
          session: `tf.compat.v1.Session`, whose iterators are initialized.
          path: str, the checkpoint's path without extension.

        Returns:
          bool, whether the checkpoint had the positions of all iterators.
        """
        saved = tf.train.load_checkpoint(path).get_variable_to_shape_map()
        there = [iterator for iterator in self.saved_iterators if iterator.key in saved]
        try:
            session.run([iterator.restore for iterator in there], {self._prefix: path})
        except tf.errors.OpError as error:
            tf1.logging.warning(
                "the input's position in %s does not fit the input, which starts anew: %s",
                path,
                in_one_line(error),
            )
            inputs.initialize(session)
            return False
        return len(there) == len(self.saved_iterators) > 0

    def _give_up(self, iterator, reason):
        self.saved_iterators.remove(iterator)
        tf1.logging.warning(
            "the position of the input %r cannot be saved (%s): a resumed run begins it anew, "
            "unless skip_input_ahead is set",
            iterator.name,
            reason,
        )


def skip_ahead(session, steps):
    """Takes the input of so many steps and drops it.

    Args:
      session: `tf.compat.v1.Session`, whose iterators are initialized.
      steps: int.
    """
    getters = [
        op
        for handle in _iterator_handles(session.graph)
        for op in handle.consumers()
        if "IteratorGetNext" in op.type
    ]
    for _ in range(steps):
        session.run(getters)


class _Iterator:
    """One iterator, with the ops that save and restore its position."""

    def __init__(self, handle, prefix):
        self.name = handle.op.name
        self.key = _PREFIX + self.name
        self._handle = handle
        with tf1.device(handle.device):
            position = _serialized(handle, _IGNORE_STATE_OF_OPS)
            self._checked = _serialized(handle, _FAIL_IF_OPS_HAVE_STATE).op
            self.save = tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=[self.key],
                shape_and_slices=[""],
                tensors=[position],
            )
            (saved,) = tf.raw_ops.RestoreV2(
                prefix=prefix,
                tensor_names=[self.key],
                shape_and_slices=[""],
                dtypes=[tf.variant],
            )
            self.restore = tf.raw_ops.DeserializeIterator(resource_handle=handle, serialized=saved)

    def reason_not_to_save(self, session):
        """Returns which op has a state that the position does not hold, or None."""
        try:
            session.run(self._checked)
        except tf.errors.OpError as error:
            return in_one_line(error)
        return None

    def op_types(self, function_ops):
        """Returns the types of the ops of its pipeline, those inside functions included.

        Args:
          function_ops: dict from the names of functions to their ops; it is used up.
        """
        graph = self._handle.graph
        makers = [op for op in self._handle.consumers() if op.type == "MakeIterator"]
        ops = [graph.get_operation_by_name(name) for name in graph_walk.ancestors(makers)]
        types, stack = set(), [op.node_def for op in ops]
        while stack:
            node = stack.pop()
            types.add(node.op)
            for name in _functions_called(node):
                stack.extend(function_ops.pop(name, ()))
        return types


def _iterator_handles(graph):
    """Returns the handles of the declared iterators and of those the declared input comes from."""
    handles = [op.inputs[1] for op in graph.get_collection(inputs.ITERATOR_INITIALIZERS)]
    for op in graph.get_collection(inputs.INPUT_SOURCES):
        if "IteratorGetNext" in op.type:
            handles.append(op.inputs[0])
    return list({handle.ref(): handle for handle in handles}.values())


def _names(handles):
    return [handle.name for handle in handles]


def _serialized(handle, policy):
    return tf.raw_ops.SerializeIterator(resource_handle=handle, external_state_policy=policy)


def _ops_by_function(graph):
    library = graph.as_graph_def().library
    return {function.signature.name: list(function.node_def) for function in library.function}


def _functions_called(node):
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func.name
        yield from (function.name for function in value.list.func)
