import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import inputs

tf1 = tf.compat.v1


def values_until_the_end(tensor):
    values = []
    with graphtrain.MonitoredTrainingSession() as session:
        while not session.should_stop():
            values.append(session.run(tensor).tolist())
    return values


def test_a_dataset_of_pairs(flow_mode):
    dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [10, 20, 30])).batch(2)
    features, labels = inputs.features_and_labels(dataset)
    assert values_until_the_end(features + labels) == [[11, 22], [33]]


def test_a_dataset_of_features(flow_mode):
    features, labels = inputs.features_and_labels(tf.data.Dataset.range(2))
    assert labels is None
    assert values_until_the_end(features) == [0, 1]


def test_a_dataset_of_dicts_with_sparse_tensors(flow_mode):
    sparse = tf.sparse.from_dense([[0, 1], [2, 0]])
    dataset = tf.data.Dataset.from_tensor_slices({"words": sparse})
    features, _ = inputs.features_and_labels(dataset)
    assert values_until_the_end(tf.sparse.to_dense(features["words"])) == [[0, 1], [2, 0]]


def test_tensors_as_they_are(graph):
    x, y = tf.constant([1.0]), tf.constant([2.0])
    assert inputs.features_and_labels((x, y)) == (x, y)
    assert inputs.features_and_labels([x, y]) == (x, y)
    assert inputs.features_and_labels(x) == (x, None)
    assert inputs.features_and_labels({"x": x}) == ({"x": x}, None)
    assert not inputs.can_end(tf1.get_default_graph())


def test_three_things_are_one_too_many(graph):
    with pytest.raises(graphtrain.UsageError, match=r"must return \(features, labels\)"):
        inputs.features_and_labels((1, 2, 3))
    with pytest.raises(graphtrain.UsageError, match="got a tuple of 1"):
        inputs.features_and_labels(tf.data.Dataset.from_tensors((1,)))


def test_one_shot_iterators_end_the_input(flow_mode):
    iterator = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
    features, _ = inputs.features_and_labels(iterator.get_next())
    assert values_until_the_end(features) == [0, 1, 2]


def test_every_session_initializes_the_input_again(flow_mode):
    features, _ = inputs.features_and_labels(tf.data.Dataset.range(2))
    assert values_until_the_end(features) == [0, 1]
    assert values_until_the_end(features) == [0, 1]


def test_tables_are_there_before_the_input(flow_mode):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [5, 6]), -1)
    dataset = tf.data.Dataset.from_tensor_slices([0, 1, 2]).map(table.lookup)
    features, _ = inputs.features_and_labels(dataset)
    assert values_until_the_end(features) == [5, 6, -1]


def test_arrays_are_fed_and_not_part_of_the_graph(flow_mode):
    array = np.arange(500_000, dtype=np.float32)
    placeholder = tf1.placeholder(tf.float32, [None])
    inputs.feed_at_initialization(placeholder, array)
    dataset = tf.data.Dataset.from_tensor_slices(placeholder).batch(250_000)
    features, _ = inputs.features_and_labels(dataset)
    graph = tf1.get_default_graph()
    assert inputs.initial_feeds(graph) == {placeholder: array}
    values = values_until_the_end(tf.reduce_max(features))
    assert values == [249_999.0, 499_999.0]
    assert graph.as_graph_def().ByteSize() < 100_000


def test_the_feeds_do_not_hinder_a_meta_graph(graph, caplog):
    inputs.feed_at_initialization(tf1.placeholder(tf.int64, [None], name="rows"), np.arange(3))
    meta_graph = tf1.train.export_meta_graph()
    feeds = meta_graph.collection_def[inputs.INITIAL_FEEDS]
    assert list(feeds.node_list.value) == ["rows:0"]
    assert "Issue encountered" not in caplog.text


def test_an_array_that_does_not_fit(graph):
    placeholder = tf1.placeholder(tf.float32, [None, 2], name="rows")
    with pytest.raises(graphtrain.UsageError, match="'rows:0' of float32 and shape .* int64"):
        inputs.feed_at_initialization(placeholder, np.zeros([3, 2], np.int64))
    with pytest.raises(graphtrain.UsageError, match=r"array of float32 and shape \(3,\)"):
        inputs.feed_at_initialization(placeholder, np.zeros([3], np.float32))


def error_of(tensor):
    with tf1.Session() as session:
        inputs.initialize(session)
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            for _ in range(9):
                session.run(tensor)
    return caught.value


def raise_stop_iteration():
    raise StopIteration


def test_only_the_declared_input_can_end(graph):
    def undeclared():
        iterator = tf1.data.make_initializable_iterator(tf.data.Dataset.range(2))
        tf1.add_to_collection(inputs.ITERATOR_INITIALIZERS, iterator.initializer)
        return iterator.get_next()

    other = undeclared()
    assert inputs.is_end_of_input(error_of(other), graph)
    declared, _ = inputs.features_and_labels(tf.data.Dataset.range(3))
    assert inputs.is_end_of_input(error_of(declared), graph)
    assert not inputs.is_end_of_input(error_of(other), graph)
    assert not inputs.is_end_of_input(error_of(declared), tf.Graph())


def test_a_py_func_ends_the_input_only_as_input(graph):
    ending = tf1.py_func(raise_stop_iteration, [], tf.float32)
    assert not inputs.is_end_of_input(error_of(ending), graph)
    inputs.features_and_labels(ending)
    assert inputs.is_end_of_input(error_of(ending), graph)


def test_an_iterator_inside_a_function_ends_the_input(graph):
    iterator = inputs.declare_iterator(
        tf1.data.make_initializable_iterator(tf.data.Dataset.range(2))
    )
    following = tf.function(lambda: iterator.get_next() + 1)()
    assert inputs.is_end_of_input(error_of(following), graph)


def test_a_queue_ends_the_input(graph):
    queue = tf.queue.FIFOQueue(3, tf.int32)
    runner = tf1.train.QueueRunner(queue, [queue.enqueue(tf1.train.limit_epochs(7, 2))])
    tf1.train.add_queue_runner(runner)
    features, _ = inputs.features_and_labels(queue.dequeue())
    assert values_until_the_end(features) == [7, 7]
