"""From what an input_fn returns to tensors, and from an error to "the input has ended".

The input of a graph is declared by three graph collections: the initializers of its iterators,
which every new session runs; the arrays that are fed to placeholders when they run, so that data
are never part of the graph; and the ops whose `OutOfRangeError` means that the input has ended.
"""

import re
import typing
import warnings

import numpy as np
import tensorflow as tf

from graphtrain.distribute import agreement
from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk

tf1 = tf.compat.v1

ITERATOR_INITIALIZERS = "graphtrain_iterator_initializers"
INITIAL_FEEDS = "graphtrain_initial_feeds"
INPUT_SOURCES = "graphtrain_input_sources"
# Those of them whose dataset does its work on threads of its own.
SOURCES_OF_OWN_THREADS = "graphtrain_input_sources_of_own_threads"

_ENDS = re.compile(r"(\w*IteratorGetNext\w*|QueueDequeue\w*|ReaderRead\w*)")
_ENDS_IF_DECLARED = re.compile(_ENDS.pattern + r"|\w*PyFunc\w*")
_NODE = re.compile(r"\{\{node (\S+)\}\}")
_GET_NEXT_IN_A_FUNCTION = re.compile(r"\{\{node (\S*/)?\w*IteratorGetNext\w*\}\}")


class InitialFeed(typing.NamedTuple):
    """An array that is fed to a placeholder whenever the iterators are initialized."""

    placeholder: tf.Tensor
    array: np.ndarray

    @property
    def name(self):
        """The placeholder's name: by it TensorFlow writes the collection into a MetaGraph."""
        return self.placeholder.name


def feed_at_initialization(placeholder, array):
    """Lets every new session feed `array` to `placeholder` when it initializes the iterators.

    So a dataset reads an array that is not part of the graph.

    Args:
      placeholder: `tf.compat.v1.placeholder` of the array's dtype, and a shape that fits it.
      array: numpy array.

    Returns:
      `placeholder`.

    Raises:
      UsageError: the array does not fit the placeholder.

    Example:
      >>> rows = feed_at_initialization(tf1.placeholder(tf.float32, [None]), np.ones(3, "f"))
      >>> total, _ = features_and_labels(tf.data.Dataset.from_tensor_slices(rows).batch(3))
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     session.run(total)
      array([1., 1., 1.], dtype=float32)
    """
    if placeholder.dtype != array.dtype or not placeholder.shape.is_compatible_with(array.shape):
        raise UsageError(
            f"The placeholder {placeholder.name!r} of {placeholder.dtype.name} and shape "
            f"{placeholder.shape} cannot take an array of {array.dtype} and shape {array.shape}."
        )
    placeholder.graph.add_to_collection(INITIAL_FEEDS, InitialFeed(placeholder, array))
    return placeholder


def initial_feeds(graph):
    """Returns the feed dict with which the iterators of `graph` are initialized.

    Args:
      graph: `tf.Graph`.

    Returns:
      Dict from placeholder to numpy array.

    Example:
      >>> initial_feeds(tf.Graph())
      {}
    """
    return dict(graph.get_collection(INITIAL_FEEDS))


def declare_iterator(iterator):
    """Lets every new session of ours initialize `iterator`, which its owner then need not do.

    Args:
      iterator: what `tf.compat.v1.data.make_initializable_iterator` returned.

    Returns:
      `iterator`.

    Example:
      >>> iterator = tf1.data.make_initializable_iterator(tf.data.Dataset.range(3))
      >>> first = declare_iterator(iterator).get_next()
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     int(session.run(first))
      0
    """
    initializer = iterator.initializer
    initializer.graph.add_to_collection(ITERATOR_INITIALIZERS, initializer)
    return iterator


def features_and_labels(result):
    """Returns the tensors of what an input_fn returned, and declares them the graph's input.

    Args:
      result: a Dataset of (features, labels) or of features, or such tensors themselves; each
        is a tensor or a dict of tensors.

    Returns:
      (features, labels); the labels are None where there are none.

    Raises:
      UsageError: a tuple or list of another length than two; or no Dataset, in a graph of a
        synchronous training.

    Example:
      >>> features, labels = features_and_labels({"x": tf.constant([1.0])})
      >>> sorted(features), labels
      (['x'], None)
    """
    agreed = agreement.of_default_graph()
    own_threads = False
    if isinstance(result, tf.data.Dataset):
        own_threads = _has_own_threads(result)
        iterator = declare_iterator(tf1.data.make_initializable_iterator(result))
        result = iterator.get_next() if agreed is None else agreed.next_batch(iterator)
    elif agreed is not None:
        raise UsageError(
            f"An input_fn of a synchronous training must return a Dataset, got {result!r}: the "
            "workers have to know before a step whether each has a batch left."
        )
    if isinstance(result, (tuple, list)):
        if len(result) != 2:
            raise UsageError(
                "An input_fn must return (features, labels) or features, got a "
                f"{type(result).__name__} of {len(result)}: {result!r}."
            )
        features, labels = result
    else:
        features, labels = result, None
    _declare_sources(
        tf.nest.flatten((features, labels), expand_composites=True), own_threads=own_threads
    )
    return features, labels


def initialize(session):
    """Initializes the declared iterators of a new session.

    Args:
      session: `tf.compat.v1.Session`, whose tables are initialized.
    """
    initializers = session.graph.get_collection(ITERATOR_INITIALIZERS)
    if initializers:
        session.run(initializers, feed_dict=initial_feeds(session.graph))


def can_end(graph):
    """Says whether the declared input of `graph` comes from anything that can end."""
    return bool(graph.get_collection(INPUT_SOURCES))


def begin_anew(session):
    """Puts the declared iterators of an open `MonitoredSession` back to their beginning.

    Args:
      session: `graphtrain.session.monitored.MonitoredSession`.
    """
    initializers = session.graph.get_collection(ITERATOR_INITIALIZERS)
    if initializers:
        tf1.logging.info("the input is at its end: it begins anew")
        session.run_without_hooks(initializers, initial_feeds(session.graph))


def sources(graph):
    """Returns the ops that bring the declared input of `graph`, such as an iterator's get_next."""
    return graph.get_collection(INPUT_SOURCES)


def is_end_of_input(error, graph):
    """Says whether an error means that the input of `graph` has ended.

    If an input was declared, only its own ops can say so; otherwise any iterator, queue or
    reader of the graph can. An `OutOfRangeError` of anything else is a fault, not an end.

    Args:
      error: the exception that `session.run` raised.
      graph: the `tf.Graph` that was run.

    Returns:
      bool.

    Example:
      >>> is_end_of_input(StopIteration(), tf.Graph())
      False
    """
    if not isinstance(error, tf.errors.OutOfRangeError):
        return False
    if isinstance(error, agreement.StoppedTogetherError):
        return True
    op = error.op or _op_named_in(error.message, graph)
    if op is None:
        return _GET_NEXT_IN_A_FUNCTION.search(error.message) is not None
    if can_end(graph):
        return op in sources(graph)
    return op.graph is graph and _ENDS.fullmatch(op.type) is not None


def _op_named_in(message, graph):
    """Returns the op of the graph that an error's message names: a callable's error has no op."""
    for name in _NODE.findall(message):
        try:
            return graph.get_operation_by_name(name)
        except KeyError:
            continue  # It is inside a function.
    return None


def _has_own_threads(dataset):
    with warnings.catch_warnings():
        # TensorFlow warns that options may be missing here; one that is there is right.
        warnings.simplefilter("ignore", UserWarning)
        return bool(dataset.options().threading.private_threadpool_size)


def _declare_sources(tensors, *, own_threads):
    graph = tf1.get_default_graph()
    upstream = graph_walk.ancestors(
        [tensor.op for tensor in tensors if tf.is_symbolic_tensor(tensor)]
    )
    for op in graph.get_operations():
        if op.name in upstream and _ENDS_IF_DECLARED.fullmatch(op.type):
            graph.add_to_collection(INPUT_SOURCES, op)
            if own_threads:
                graph.add_to_collection(SOURCES_OF_OWN_THREADS, op)
