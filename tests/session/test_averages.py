import logging

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.optimize.moving_average import MovingAverageOptimizer
from graphtrain.session.averages import averages_scaffold

tf1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    """After a step w = (0, -1) from (1, 2), its averages (0.75, 1.25); b has none."""
    partitioner = tf1.fixed_size_partitioner(params["parts"]) if "parts" in params else None
    with tf1.variable_scope("", partitioner=partitioner):
        w = tf.convert_to_tensor(tf1.get_variable("w", initializer=tf.constant([1.0, 2.0])))
    b = tf1.get_variable("b", initializer=5.0)
    loss = tf.reduce_sum(w * features)
    train_op = None
    if mode == graphtrain.ModeKeys.TRAIN:
        optimizer = tf1.train.GradientDescentOptimizer(1.0)
        if params.get("averaged", True):
            optimizer = MovingAverageOptimizer(optimizer, average_decay=0.75)
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    use = params.get("use_averages", True) and mode != graphtrain.ModeKeys.TRAIN
    return graphtrain.EstimatorSpec(
        mode,
        predictions={"w": tf.expand_dims(w + 0 * features, 0), "b": tf.expand_dims(b, 0)},
        loss=loss,
        train_op=train_op,
        eval_metric_ops={"first": tf1.metrics.mean(w[0])},
        scaffold=averages_scaffold() if use else None,
    )


def input_fn():
    return tf.data.Dataset.from_tensors(([1.0, 3.0], [0.0])).repeat()


def receiver_fn():
    features = tf1.placeholder(tf.float32, [2])
    return graphtrain.export.TensorServingInputReceiver(features, features)


def predicted(estimator):
    values = next(estimator.predict(input_fn))
    return values["w"].tolist(), values["b"].item()


@pytest.mark.parametrize("parts", [1, 2])
def test_prediction_evaluation_and_export_use_the_averages(parts, graph_mode, tmp_path):
    params = {"parts": parts}
    run = str(tmp_path / "run")
    estimator = graphtrain.Estimator(model_fn, run, params=params).train(input_fn, steps=1)
    assert predicted(estimator) == ([0.75, 1.25], 5.0)
    assert estimator.evaluate(input_fn, steps=1)["first"] == 0.75
    directory = estimator.export_saved_model(tmp_path / "export", receiver_fn)
    variables = f"{directory.decode()}/variables/variables"
    np.testing.assert_array_equal(tf.train.load_variable(variables, "w"), [0.75, 1.25])
    weights = graphtrain.Estimator(model_fn, run, params={**params, "use_averages": False})
    assert predicted(weights) == ([0.0, -1.0], 5.0)


def test_training_goes_on_with_the_weights(tmp_path):
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), params={})
    estimator.train(input_fn, steps=1).train(input_fn, steps=1)
    assert estimator.get_variable_value("w").tolist() == [-1.0, -4.0]
    averages = estimator.get_variable_value("w/ExponentialMovingAverage")
    assert averages.tolist() == [0.3125, -0.0625]


def test_what_has_no_average_is_listed(tmp_path, caplog):
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), params={})
    estimator.train(input_fn, steps=1)
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        predicted(estimator)
    assert [m for m in caplog.messages if "has no averages of b: they keep" in m]


def test_averages_begun_in_the_middle_of_a_run_start_at_the_weights(tmp_path):
    before = graphtrain.Estimator(model_fn, str(tmp_path), params={"averaged": False})
    before.train(input_fn, steps=1)
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), params={})
    assert predicted(estimator)[0] == [0.0, -1.0]
    estimator.train(input_fn, steps=1)
    assert predicted(estimator)[0] == [-0.25, -1.75]


def test_other_parts_of_the_scaffold_are_kept(graph):
    init_op = tf.no_op()
    assert averages_scaffold(tf1.train.Scaffold(init_op=init_op)).init_op is init_op
