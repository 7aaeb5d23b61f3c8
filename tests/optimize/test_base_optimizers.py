"""Every optimizer of TensorFlow, and users' own, searched: step, failure, names, checkpoints."""

import functools

import numpy as np
import pytest
import tensorflow as tf
from reference_search import assert_searches_alike, own_session, state

from graphtrain import LineSearchOptimizer

tf1 = tf.compat.v1


class SignOptimizer(tf1.train.Optimizer):
    """A user's subclass, by the hooks that TensorFlow documents."""

    def __init__(self, rate):
        super().__init__(use_locking=False, name="Sign")
        self._rate = rate

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "count", self._name)

    def _apply_dense(self, grad, var):
        counted = self.get_slot(var, "count").assign_add(tf.ones_like(grad))
        return tf.group(counted, tf1.assign_sub(var, self._rate * tf.sign(grad)))

    _resource_apply_dense = _apply_dense

    def _finish(self, update_ops, name_scope):
        steps = tf1.get_variable("sign_steps", initializer=0, trainable=False)
        with tf.control_dependencies(update_ops):
            return tf.group(steps.assign_add(1), name=name_scope)


class WeightDecayAdam(tf1.train.Optimizer):
    """A user's subclass like BERT's: only `apply_gradients`, and slots by `get_variable`."""

    def __init__(self, rate):
        super().__init__(use_locking=False, name="WeightDecayAdam")
        self._rate = rate

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = [] if global_step is None else [tf1.assign_add(global_step, 1)]
        for grad, weights in grads_and_vars:
            if grad is None:
                continue
            slot = functools.partial(
                tf1.get_variable,
                shape=weights.shape.as_list(),
                dtype=weights.dtype.base_dtype,
                trainable=False,
                initializer=tf1.zeros_initializer(),
            )
            m, v = slot(weights.op.name + "/adam_m"), slot(weights.op.name + "/adam_v")
            next_m = 0.9 * m + 0.1 * grad
            next_v = 0.999 * v + 0.001 * tf.square(grad)
            update = next_m / (tf.sqrt(next_v) + 1e-6) + 0.01 * weights
            assignments += [
                tf1.assign(weights, weights - self._rate * update),
                tf1.assign(m, next_m),
                tf1.assign(v, next_v),
            ]
        return tf.group(*assignments, name=name)


def adagrad_da(rate):
    return tf1.train.AdagradDAOptimizer(rate, tf1.train.get_or_create_global_step())


# By name: how it is made, and a learning rate at which the search has work to do.
OPTIMIZERS = {
    "sgd": (tf1.train.GradientDescentOptimizer, 1.0),
    "momentum": (lambda rate: tf1.train.MomentumOptimizer(rate, 0.9), 1.0),
    "nesterov": (lambda rate: tf1.train.MomentumOptimizer(rate, 0.9, use_nesterov=True), 1.0),
    "adam": (tf1.train.AdamOptimizer, 1.0),
    "adagrad": (tf1.train.AdagradOptimizer, 2.0),
    "adadelta": (lambda rate: tf1.train.AdadeltaOptimizer(rate, rho=0.9, epsilon=1e-2), 10.0),
    "rmsprop": (tf1.train.RMSPropOptimizer, 1.0),
    "centered": (lambda rate: tf1.train.RMSPropOptimizer(rate, centered=True, momentum=0.5), 0.3),
    "ftrl": (lambda rate: tf1.train.FtrlOptimizer(rate, l1_regularization_strength=0.01), 2.0),
    "proximal_sgd": (
        lambda rate: tf1.train.ProximalGradientDescentOptimizer(
            rate, l1_regularization_strength=0.01
        ),
        1.0,
    ),
    "proximal_adagrad": (
        lambda rate: tf1.train.ProximalAdagradOptimizer(rate, l2_regularization_strength=0.01),
        2.0,
    ),
    "adagrad_da": (adagrad_da, 2.0),
    "sign": (SignOptimizer, 0.5),
    "weight_decay_adam": (WeightDecayAdam, 0.5),
}


def regression(optimizer):
    """Two layers, fed with batches of 8, and with a sign for the gradients."""
    x, y = tf1.placeholder(tf.float32, [8, 3], "x"), tf1.placeholder(tf.float32, [8], "y")
    sign = tf1.placeholder(tf.float32, [], "sign")
    start = np.random.RandomState(1)
    hidden = tf1.get_variable("hidden", initializer=start.randn(3, 4).astype(np.float32))
    with tf1.variable_scope("top"):
        top = tf1.get_variable("weights", initializer=start.randn(4, 1).astype(np.float32))
        bias = tf1.get_variable("bias", [1], initializer=tf1.zeros_initializer())
    step = tf1.train.get_or_create_global_step()
    predicted = tf.squeeze(tf.matmul(tf.tanh(tf.matmul(x, hidden)), top) + bias, 1)
    loss = tf.reduce_mean(tf.square(predicted - y))
    pairs = [(gradient * sign, v) for gradient, v in optimizer.compute_gradients(loss)]
    return loss, optimizer.apply_gradients(pairs, global_step=step)


def batches(signs):
    random = np.random.RandomState(0)
    for sign in signs:
        x = random.randn(8, 3)
        yield {"x:0": x, "y:0": np.sin(x.sum(1)), "sign:0": sign}


# A gradient that points uphill makes a search fail, as long as there is no momentum.
SIGNS = [-1.0] * 2 + [1.0] * 8 + [-1.0] * 2 + [1.0] * 8


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_are_those_of_the_reference(variables, name):
    """Weights and slots, bit for bit, after each step: accepted, or failed and put back."""
    make, rate = OPTIMIZERS[name]
    trials, accepted = assert_searches_alike(
        regression, lambda: make(rate), feeds=batches(SIGNS), shrink=0.5, min_scale=0.05
    )
    assert min(trials) < max(trials)
    assert set(accepted) == {True, False}


def all_optimizers(wrap):
    """Each optimizer over a variable of its own, in one graph; returns the train ops."""
    train_ops = []
    for name, (make, rate) in OPTIMIZERS.items():
        w = tf1.get_variable(f"{name}/w", initializer=[1.0, 2.0])
        optimizer = wrap(make(rate))
        step = tf1.train.get_or_create_global_step()
        with tf1.variable_scope(name):
            train_ops.append(optimizer.minimize(tf.reduce_sum(w * w), step, var_list=[w]))
    return train_ops


def plain(optimizer):
    return optimizer


def test_checkpoints_interchange(graph, tmp_path):
    with own_session(all_optimizers, lambda: LineSearchOptimizer) as (searched, _, searched_ops):
        searched_saver = tf1.train.Saver()
        with own_session(all_optimizers, lambda: plain) as (session, _, train_ops):
            session.run(train_ops)
            tf1.train.Saver().save(session, str(tmp_path / "plain"))
            saved = state(session)
            searched_saver.restore(searched, str(tmp_path / "plain"))
            with searched.graph.as_default():
                assert_same(state(searched), saved)
                searched.run(searched_ops)
                searched_saver.save(searched, str(tmp_path / "searched"))
                saved = state(searched)
            tf1.train.Saver().restore(session, str(tmp_path / "searched"))
            assert_same(state(session), saved)
            session.run(train_ops)


def assert_same(found, wanted):
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        assert found[name].tobytes() == value.tobytes(), name
