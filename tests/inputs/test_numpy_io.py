import numpy as np
import pytest
import tensorflow as tf
import tiny_batches

import graphtrain
from graphtrain.estimator import inputs

tf1 = tf.compat.v1


def batches_of(*args, seed=None, limit=None, **settings):
    with tf.Graph().as_default():
        tf1.set_random_seed(seed)
        return tiny_batches.all_of(inputs.numpy_input_fn(*args, **settings)(), limit=limit)


def test_batches_run_on_into_the_next_epoch(graph):
    got = batches_of(np.arange(5), batch_size=4, num_epochs=2, shuffle=False)
    assert [batch.tolist() for batch in got] == [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4]]


def test_dicts_and_labels(graph):
    x = {"a": np.arange(3.0), "word": np.array(["x", "y", "z"])}
    ((features, labels),) = batches_of(x, np.arange(6).reshape(3, 2), shuffle=False)
    assert features["a"].tolist() == [0.0, 1.0, 2.0]
    assert features["word"].tolist() == [b"x", b"y", b"z"]
    assert labels.tolist() == [[0, 1], [2, 3], [4, 5]]
    ((features, labels),) = batches_of(np.ones(2), {"one": [1, 2], "two": [3, 4]}, shuffle=False)
    assert {key: value.tolist() for key, value in labels.items()} == {"one": [1, 2], "two": [3, 4]}


def test_shapes_are_known(graph):
    features, labels = inputs.numpy_input_fn(
        np.ones([5, 2, 3]), np.arange(5), batch_size=2, num_epochs=None, shuffle=True
    )()
    assert (features.shape, labels.shape) == ((2, 2, 3), (2,))
    features = inputs.numpy_input_fn(np.ones([5, 2]), batch_size=2, shuffle=True)()
    assert features.shape.as_list() == [None, 2]


def test_each_epoch_has_an_order_of_its_own(graph):
    settings = {"batch_size": 20, "num_epochs": None, "shuffle": True, "limit": 2}
    one, two = batches_of(np.arange(20), seed=1, **settings)
    assert sorted(one) == sorted(two) == list(range(20))
    assert one.tolist() != two.tolist() != list(range(20))
    again, _ = batches_of(np.arange(20), seed=1, **settings)
    other, _ = batches_of(np.arange(20), seed=2, **settings)
    assert one.tolist() == again.tolist() != other.tolist()


def test_the_data_are_not_in_the_graph(graph):
    inputs.numpy_input_fn(np.ones(250_000), shuffle=True)()
    assert len(graph.as_graph_def().SerializeToString()) < 20_000


def test_an_estimator_takes_it(tmp_path):
    def model_fn(features, labels, mode):
        weight = tf1.get_variable("w", initializer=1.0)
        products = weight * features["x"]
        if mode == graphtrain.ModeKeys.PREDICT:
            return graphtrain.EstimatorSpec(mode, products)
        loss = tf.reduce_mean(tf.square(products - labels))
        optimizer = tf1.train.GradientDescentOptimizer(0.25)
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
        return graphtrain.EstimatorSpec(mode, products, loss, train_op)

    x, y = {"x": np.ones(4, np.float32)}, np.zeros(4, np.float32)
    estimator = graphtrain.Estimator(model_fn, str(tmp_path))
    train_input = inputs.numpy_input_fn(x, y, batch_size=2, num_epochs=None, shuffle=True)
    estimator.train(train_input, max_steps=3)
    eval_input = inputs.numpy_input_fn(x, y, num_epochs=1, shuffle=False)
    assert estimator.evaluate(eval_input)["loss"] == 2.0**-6
    assert list(estimator.predict(inputs.numpy_input_fn(x, shuffle=False))) == [0.125] * 4


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shuffle": None}, graphtrain.UsageError, "shuffle=None cannot be used: say True"),
        ({"shuffle": 1}, graphtrain.UsageError, "shuffle=1 cannot be used"),
        ({"x": {}}, graphtrain.UsageError, "x cannot be an empty dict"),
        ({"y": {}}, graphtrain.UsageError, "y cannot be an empty dict: use None"),
        ({"x": [1, 2]}, TypeError, "x must be a dict or an array, got list"),
        ({"y": np.ones(2)}, graphtrain.UsageError, r"same length.*'x': \(3,\), 'y': \(2,\)"),
        ({"x": np.array(1.0)}, graphtrain.UsageError, "same length"),
        ({"x": np.ones([0, 2])}, graphtrain.UsageError, "There are no examples"),
        (
            {"x": {"a": np.ones(3)}, "y": {"a": np.ones(3)}},
            graphtrain.UsageError,
            r"both have \['a'\]",
        ),
        ({"batch_size": 0}, graphtrain.UsageError, "batch_size=0"),
        ({"num_epochs": 0}, graphtrain.UsageError, "num_epochs=0"),
    ],
)
def test_what_cannot_be_used(arguments, error, message):
    with pytest.raises(error, match=message):
        inputs.numpy_input_fn(**{"x": np.ones(3), "shuffle": False, **arguments})


def test_queue_settings_are_accepted():
    inputs.numpy_input_fn(np.ones(3), None, 128, 1, True, 1000, 4)
