"""The case `estimator`: what `Estimator.train` costs, against a bare loop over `session.run`."""

import contextlib
import tempfile
import time

import numpy as np
import tensorflow as tf

import graphtrain
from benchmarks import report, small_models, timing
from graphtrain import datasets
from graphtrain.hooks._periodic import PeriodicHook

tf1 = tf.compat.v1


def measure(*, batch_size, repeats, steps=200):
    """Times the MLP, with the hooks that an Estimator has by default.

    Args:
      batch_size: images in a batch.
      repeats: how often each is timed.
      steps: how many steps are timed at a time.

    Returns:
      A list of figures.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(small_models.quiet_log())
        bare = small_models.bare_loop(stack, "mlp", batch_size=batch_size, searched=False)
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        turns = _Turns(lambda: bare(steps), steps)
        graphtrain.Estimator(_model_fn, directory).train(
            _input_fn(batch_size),
            hooks=[turns],
            max_steps=(repeats + timing.WARM_UP_CALLS) * steps,
        )
    seconds = turns.seconds()
    return [
        report.milliseconds("MLP: step of the bare loop", seconds, lambda t: t["bare"] / steps),
        report.milliseconds("MLP: step of Estimator.train", seconds, lambda t: t["ours"] / steps),
        report.ratio(
            "MLP: Estimator.train / bare", seconds, lambda t: t["ours"] / t["bare"], at_most=1.15
        ),
    ]


class _Turns(PeriodicHook):
    """Times so many steps of a training, then as many of the bare loop, turn by turn.

    Args:
      bare: function without arguments that makes the steps of the bare loop.
      steps: how many steps of the training make a turn.
    """

    def __init__(self, bare, steps):
        super().__init__({}, every_steps=steps)
        self._bare = bare
        self._seconds = {"bare": [], "ours": []}

    def after_create_session(self, session, coord):
        """Starts the first turn."""
        super().after_create_session(session, coord)
        self._start = time.perf_counter()

    def report(self, step, values):
        """Ends a turn."""
        trained = time.perf_counter()
        self._seconds["ours"].append(trained - self._start)
        self._bare()
        self._start = time.perf_counter()
        self._seconds["bare"].append(self._start - trained)

    def seconds(self):
        """Dict of name to float64 [turns], seconds a turn, without the first ones."""
        return {
            name: np.array(values[timing.WARM_UP_CALLS :]) for name, values in self._seconds.items()
        }


def _input_fn(batch_size):
    data = datasets.load("sample")
    return datasets.image_input_fn(
        data.train_images, data.train_labels, batch_size=batch_size, shuffle=True, seed=1
    )


def _model_fn(features, labels, mode):
    logits = small_models.LOGITS["mlp"](features["image"])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    optimizer = tf1.train.GradientDescentOptimizer(0.01)
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return graphtrain.EstimatorSpec(mode, tf.argmax(logits, 1), loss, train_op)
