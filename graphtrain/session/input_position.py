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
# Which of its inputs is the first of the two seeds of an op that draws the order of its elements.
_SEEDS_AT = {
    "ShuffleDataset": 2,
    "ShuffleDatasetV3": 2,
    "ShuffleAndRepeatDataset": 2,
    "ShuffleAndRepeatDatasetV2": 2,
    "SamplingDataset": 2,
    "RandomDataset": 0,
    "RandomDatasetV2": 0,
}
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
        self._warned_of_size = self._warned_of_seeds = False

    @property
    def name(self):
        """A name in the graph: by it TensorFlow writes the collection into a MetaGraph."""
        return self._prefix.name

    def warn_of_missing_seeds(self, graph):
        """Warns, once, of iterators whose order is another in each run that is begun.

        Args:
          graph: `tf.Graph` of the iterators.
        """
        if self._warned_of_seeds or not self.saved_iterators:
            return
        self._warned_of_seeds = True
        function_ops = _ops_by_function(graph)
        for iterator in self.saved_iterators:
            op_type = iterator.op_without_seed(dict(function_ops))
            if op_type is not None:
                tf1.logging.warning(
                    "the order of the input %r is drawn without a seed (%s): it goes on where it "
                    "was when the run is resumed, but another run has another order. To be able "
                    "to repeat the run, give the op a seed, or the graph "
                    "(tf.compat.v1.set_random_seed, RunConfig.tf_random_seed)",
                    iterator.name,
                    op_type,
                )

    def check(self, session):
        """Warns of iterators whose position cannot be saved, or not all of it.

        Args:
          session: `tf.compat.v1.Session`, whose iterators are initialized.
        """
        if not self.saved_iterators:
            return
        function_ops = _ops_by_function(session.graph)
        for iterator in list(self.saved_iterators):
            if iterator.has_op("GeneratorDataset", dict(function_ops)):
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

    def has_op(self, op_type, function_ops):
        """Says whether its pipeline has an op of this type, be it inside a function.

        Args:
          op_type: str.
          function_ops: dict from the names of functions to their ops; it is used up.
        """
        bodies = self._pipeline(function_ops)
        return any(node.op == op_type for body in bodies for node in body.values())

    def op_without_seed(self, function_ops):
        """Returns the type of an op of its pipeline that draws an order without a seed, or None.

        Args:
          function_ops: as for `has_op`.
        """
        for body in self._pipeline(function_ops):
            for node in body.values():
                if node.op in _SEEDS_AT and _has_no_seed(node, body):
                    return node.op
        return None

    def _pipeline(self, function_ops):
        """Yields the nodes of its pipeline, then those of each function: dicts from their names."""
        graph = self._handle.graph
        makers = [op for op in self._handle.consumers() if op.type == "MakeIterator"]
        # What a one-shot iterator iterates over is in a function of its own.
        names = graph_walk.ancestors([*makers, self._handle.op])
        bodies = [[graph.get_operation_by_name(name).node_def for name in names]]
        while bodies:
            body = {node.name: node for node in bodies.pop()}
            yield body
            for node in body.values():
                called = [function_ops.pop(name, ()) for name in _functions_called(node)]
                bodies.extend(filter(None, called))


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


def _has_no_seed(node, body):
    """Whether both seeds of an op are the constant 0, by which the order is drawn anew each time.

    TensorFlow gives no seed of a user's, of the op or of the graph, that form.
    """
    first = _SEEDS_AT[node.op]
    seeds = (body.get(name.partition(":")[0]) for name in node.input[first : first + 2])
    return all(
        seed is not None
        and seed.op == "Const"
        and not tf.make_ndarray(seed.attr["value"].tensor).any()
        for seed in seeds
    )


def _ops_by_function(graph):
    library = graph.as_graph_def().library
    return {function.signature.name: list(function.node_def) for function in library.function}


def _functions_called(node):
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func.name
        yield from (function.name for function in value.list.func)
