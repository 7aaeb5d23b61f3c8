"""A loss along a line, by which a test decides which scales are good."""

import numpy as np
import tensorflow as tf

from graphtrain import LineSearchOptimizer

tf1 = tf.compat.v1

_DEFAULTS = {"height": 1.0, "tilt": 1.0, "curvature": 0.0}


class Line:
    """A session that steps along f(w) = height - tilt w + curvature w^2, beginning at w = 0.

    Gradient descent at rate 1 steps to w = tilt, so that with a tilt of 1 the weight is the scale,
    and a scale s is a decrease if s < 1 / curvature.

    Args:
      optimizer: the plain optimizer; gradient descent at rate 1 if None.
      **search: arguments of `LineSearchOptimizer`.
    """

    def __init__(self, optimizer=None, **search):
        self._numbers = {
            name: tf1.placeholder_with_default(np.float64(value), [])
            for name, value in _DEFAULTS.items()
        }
        self.forwards = 0
        self.w = tf1.get_variable("w", initializer=np.float64(0))
        height, tilt, curvature = self._numbers.values()
        counted = tf.stop_gradient(tf1.py_func(self._count, [self.w], tf.float64))
        loss = height - tilt * self.w + curvature * self.w**2 + tf.reshape(counted, [])
        self.optimizer = LineSearchOptimizer(
            optimizer or tf1.train.GradientDescentOptimizer(1.0), self_test=False, **search
        )
        self.train_op = self.optimizer.minimize(loss, tf1.train.create_global_step())
        self.session = tf1.Session()
        self.session.run(tf1.global_variables_initializer())

    def _count(self, w):
        self.forwards += 1
        return 0 * w

    def step(self, *names, **numbers):
        """Takes a step from w = 0; returns the tensors of the optimizer so called."""
        self.session.run(self.w.initializer)
        self.forwards = 0
        feed = {self._numbers[name]: value for name, value in numbers.items()}
        told = [getattr(self.optimizer, name) for name in names]
        values = self.session.run([*told, self.train_op], feed)[:-1]
        return values[0] if len(values) == 1 else values

    def variables(self):
        """The values of all variables, by name."""
        return self.session.run({v.op.name: v for v in tf1.global_variables()})
