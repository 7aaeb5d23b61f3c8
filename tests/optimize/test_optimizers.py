import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import optimizers

tf1 = tf.compat.v1


def trained(make_optimizer, steps=3):
    """A variable after some steps on a quadratic bowl."""
    with tf.Graph().as_default(), tf1.Session() as session:
        weights = tf1.get_variable("weights", initializer=[1.0, -2.0])
        loss = tf.reduce_sum([1.0, 3.0] * weights**2)
        train_op = make_optimizer().minimize(loss)
        session.run(tf1.global_variables_initializer())
        for _ in range(steps):
            session.run(train_op)
        return session.run(weights)


@pytest.mark.parametrize(
    ("name", "settings", "reference"),
    [
        ("sgd", {}, lambda: tf1.train.GradientDescentOptimizer(0.1)),
        ("momentum", {}, lambda: tf1.train.MomentumOptimizer(0.1, 0.9)),
        ("momentum", {"momentum": 0.5}, lambda: tf1.train.MomentumOptimizer(0.1, 0.5)),
        ("nesterov", {}, lambda: tf1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)),
        ("adam", {}, lambda: tf1.train.AdamOptimizer(0.1)),
        ("adam", {"beta1": 0.5}, lambda: tf1.train.AdamOptimizer(0.1, beta1=0.5)),
        ("adagrad", {}, lambda: tf1.train.AdagradOptimizer(0.1)),
        ("adadelta", {"rho": 0.5}, lambda: tf1.train.AdadeltaOptimizer(0.1, rho=0.5)),
        ("rmsprop", {"momentum": 0.5}, lambda: tf1.train.RMSPropOptimizer(0.1, momentum=0.5)),
        ("ftrl", {}, lambda: tf1.train.FtrlOptimizer(0.1)),
    ],
)
def test_each_is_tensorflows_own(name, settings, reference):
    ours = trained(lambda: optimizers.make(name, 0.1, **settings))
    np.testing.assert_array_equal(ours, trained(reference))


@pytest.mark.parametrize("name", optimizers.NAMES)
def test_each_takes_a_learning_rate_tensor(name):
    values = trained(lambda: optimizers.make(name, tf.constant(0.1)))
    assert np.abs(values).sum() < 3.0


def test_unknown_names():
    with pytest.raises(UsageError, match="optimizer='Adam'.*'sgd', 'momentum'"):
        optimizers.make("Adam", 0.1)


def test_unknown_settings():
    with pytest.raises(UsageError, match="'beta_1' is no setting.*beta1, beta2, epsilon"):
        optimizers.make("adam", 0.1, beta_1=0.9)
    with pytest.raises(UsageError, match="'momentum' is no setting.*'sgd': allowed: none"):
        optimizers.make("sgd", 0.1, momentum=0.9)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("momentum", {"momentum": 1.0}),
        ("adam", {"beta1": -0.1}),
        ("adam", {"epsilon": 0}),
        ("rmsprop", {"decay": float("nan")}),
        ("ftrl", {"learning_rate_power": 0.5}),
    ],
)
def test_settings_that_make_no_sense(name, settings):
    with pytest.raises(UsageError, match=next(iter(settings))):
        optimizers.check(name, **settings)


def test_a_learning_rate_that_makes_no_sense():
    with pytest.raises(UsageError, match="learning_rate=-1"):
        optimizers.make("sgd", -1)
