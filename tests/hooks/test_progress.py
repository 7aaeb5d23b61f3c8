"""The progress bar and its plain lines."""

import io
import subprocess
import sys

import tensorflow as tf

from graphtrain import hooks

tf1 = tf.compat.v1


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


class Clock:
    """A clock that goes on by the same time at each look."""

    def __init__(self, secs_per_look):
        self.now = 0.0
        self.secs_per_look = secs_per_look

    def __call__(self):
        self.now += self.secs_per_look
        return self.now


def run_steps(count, **settings):
    """Trains `count` steps in TensorFlow's own session; returns what the hook wrote."""
    step = tf1.train.get_or_create_global_step()
    train_op = tf1.assign_add(step, 1)
    hook = hooks.ProgressHook(tf.constant(0.5), tf.constant(0.1), batch_size=32, **settings)
    with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in range(count):
            session.run(train_op)
    return settings["stream"].getvalue()


def test_plain_lines_where_there_is_no_terminal(graph):
    text = run_steps(5, stream=io.StringIO(), clock=Clock(2.0), total_steps=5, every_steps=2)
    assert text.splitlines() == [
        "step 2/5, loss 0.5, learning rate 0.1, 32 examples/s, 0:00:03 left",
        "step 4/5, loss 0.5, learning rate 0.1, 32 examples/s, 0:00:01 left",
        "step 5/5, loss 0.5, learning rate 0.1, 16 examples/s, 0:00:00 left",
    ]


def test_lines_of_a_run_of_unknown_length(graph):
    text = run_steps(3, stream=io.StringIO(), clock=Clock(1.0), every_steps=3)
    assert text == "step 3, loss 0.5, learning rate 0.1, 96 examples/s\n"


def test_a_bar_on_a_terminal(graph):
    text = run_steps(4, stream=Terminal(), clock=Clock(2.0), total_steps=4, every_steps=2)
    last = text.replace("\n", "").split("\r")[-1]
    assert last.startswith("step 4/4 |")
    assert last.endswith("left, loss 0.5, learning rate 0.1, 32 examples/s")


def test_lines_are_written_above_the_bar(graph):
    step = tf1.train.get_or_create_global_step()
    stream = Terminal()
    progress = hooks.ProgressHook(tf.constant(0.5), batch_size=1, total_steps=2, stream=stream)
    epochs = hooks.EpochReportHook(tf.constant(0.5), steps_per_epoch=1, write=progress.write)
    train_op = tf1.assign_add(step, 1)
    with tf1.train.MonitoredTrainingSession(hooks=[progress, epochs]) as session:
        for _ in range(2):
            session.run(train_op)
    assert "\repoch 1, step 1, loss 0.5\n" in stream.getvalue()


def test_tqdm_is_imported_for_a_bar_only():
    program = "import sys, graphtrain.hooks; sys.exit('tqdm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
