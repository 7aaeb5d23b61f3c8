"""Optimizers around optimizers, trained by an Estimator."""

import numpy as np
import pytest
import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1

WRAPPED = {
    "accumulation": lambda adam: graphtrain.GradientAccumulationOptimizer(adam, steps=3),
    "averages": lambda adam: graphtrain.MovingAverageOptimizer(adam, average_decay=0.9),
    "both": lambda adam: graphtrain.GradientAccumulationOptimizer(
        graphtrain.MovingAverageOptimizer(adam, average_decay=0.9), steps=3
    ),
}


def input_fn():
    numbers = tf.data.Dataset.range(1, 8)
    return numbers.map(lambda i: tf.cast(i, tf.float32) * tf.constant([0.1, 0.2])).repeat()


def trained(make, model_dir, *stops, **config):
    """The model's variables after a training that stopped at these steps."""

    def model_fn(features, labels, mode):
        weights = tf1.get_variable("weights", initializer=[1.0, 2.0])
        loss = tf.reduce_sum(tf.square(weights * features - 3))
        optimizer = make(tf1.train.AdamOptimizer(0.1))
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
        return graphtrain.EstimatorSpec(mode, weights, loss, train_op)

    estimator = graphtrain.Estimator(model_fn, str(model_dir), graphtrain.RunConfig(**config))
    for stop in stops:
        estimator.train(input_fn, max_steps=stop)
    names = [name for name in estimator.get_variable_names() if "weights" in name or "beta" in name]
    return {name: estimator.get_variable_value(name) for name in names}


@pytest.mark.parametrize("make", WRAPPED.values(), ids=WRAPPED.keys())
def test_a_resumed_run_and_several_steps_a_run_change_nothing(make, tmp_path):
    expected = trained(make, tmp_path / "plain", 20)
    assert expected["weights"].tolist() != [1.0, 2.0]
    for got in (
        trained(make, tmp_path / "resumed", 7, 20),
        trained(make, tmp_path / "several", 20, steps_per_run=4),
    ):
        assert got.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_array_equal(got[name], value, err_msg=name)
