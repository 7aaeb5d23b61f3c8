"""The case `growth`: how the cost of a step and of a checkpoint grows with the model."""

import contextlib
import os
import tempfile

import numpy as np
import tensorflow as tf

import graphtrain
from benchmarks import report, small_models, timing
from graphtrain.session import loop

tf1 = tf.compat.v1

BATCH_SIZES = (1, 4, 16, 64, 256, 1024)
PARAMETERS = (1_000_000, 3_000_000, 10_000_000)
VARIABLES = (1, 10, 100, 1000)


def measure(
    *, batch_size, repeats, batch_sizes=BATCH_SIZES, parameters=PARAMETERS, variables=VARIABLES
):
    """Times steps of our loop, one a run, and saves of a checkpoint.

    Args:
      batch_size: examples in a batch, where it is not what varies.
      repeats: how often each is timed.
      batch_sizes: of the MLP on the sample.
      parameters: sizes of a net of wide layers, in weights.
      variables: numbers of variables that 1,000,000 weights are divided into.

    Returns:
      A list of figures; after each group comes the law fitted to it.
    """
    with small_models.quiet_log(), contextlib.ExitStack() as stack:
        figures = _group("batch of", batch_sizes, repeats, lambda size: _mlp(stack, size))
        wide = {count: _Wide(stack, count, batch_size) for count in parameters}
        figures += _group("weights:", parameters, repeats, lambda count: wide[count].step)
        figures += _group("saved weights:", parameters, repeats, lambda count: wide[count].save)
        figures += [_size(count, net) for count, net in wide.items()]
        many = {count: _many(stack, count) for count in variables}
        figures += _group("variables:", variables, repeats, lambda count: many[count])
    return figures


def _group(name, sizes, repeats, make):
    runs = {size: make(size) for size in sizes}
    seconds = timing.paired(runs, repeats=repeats)
    figures = [
        report.milliseconds(f"{name} {size:,}", seconds, lambda times, size=size: times[size])
        for size in sizes
    ]
    medians = [float(np.median(seconds[size])) * 1000 for size in sizes]
    # Weighed by the inverse, so that the smallest sizes count as much as the greatest.
    slope, fixed = np.polyfit(sizes, medians, 1, w=[1 / value for value in medians])
    law = f"{name} n, law: {fixed:.3g} ms + n * {slope * 1e6:.3g} ns"
    return [*figures, report.Figure(law, "ms", fixed, fixed)]


def _mlp(stack, batch_size):
    run = small_models.our_loop(
        stack, "mlp", steps_per_run=1, batch_size=batch_size, searched=False
    )
    return lambda: run(1)


class _Wide:
    """A net of square layers with about `count` weights."""

    def __init__(self, stack, count, batch_size):
        self._directory = stack.enter_context(tempfile.TemporaryDirectory())
        with tf.Graph().as_default():
            width = int((count / 4) ** 0.5)
            net = tf.constant(np.ones([batch_size, width], np.float32) / width)
            for layer in range(4):
                kernel = tf1.get_variable(f"kernel_{layer}", [width, width])
                net = tf.nn.relu(tf.matmul(net, kernel))
            self._session, self.step = _started(stack, tf.reduce_mean(net), self._directory)

    def save(self):
        self._session.save_now()

    @property
    def bytes_saved(self):
        self.save()
        return max(
            os.path.getsize(os.path.join(self._directory, name))
            for name in os.listdir(self._directory)
        )


def _size(count, net):
    megabytes = net.bytes_saved / 1e6
    return report.Figure(f"checkpoint of {count:,} weights", "MB", megabytes, megabytes)


def _many(stack, count):
    with tf.Graph().as_default():
        size = 1_000_000 // count
        loss = tf.add_n(
            [tf.reduce_sum(tf1.get_variable(f"w_{index}", [size]) ** 2) for index in range(count)]
        )
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        return _started(stack, loss, directory)[1]


def _started(stack, loss, directory):
    step = tf1.train.get_or_create_global_step()
    train_op = tf1.train.GradientDescentOptimizer(1e-3).minimize(loss, global_step=step)
    train_step = loop.prepare(train_op, loss)
    session = stack.enter_context(
        graphtrain.MonitoredTrainingSession(
            checkpoint_dir=directory, save_checkpoint_secs=3600, save_summaries_steps=10**6
        )
    )
    return session, lambda: loop.run(session, train_step, steps=1)
