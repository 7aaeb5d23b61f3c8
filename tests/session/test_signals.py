import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints, signals

tf1 = tf.compat.v1


class SignalAt(tf1.train.SessionRunHook):
    """Sends this process a signal in the step that ends at `step`."""

    def __init__(self, number, step):
        self._number, self._step = number, step
        self.ended = False

    def after_run(self, run_context, run_values):
        if run_values.results is None and self._step is not None:
            self._step -= 1
            if self._step == 0:
                os.kill(os.getpid(), self._number)
                # Signals are heard by another thread.
                time.sleep(0.05)

    def end(self, session):
        self.ended = True


class BegunAfterASignal(tf1.train.SessionRunHook):
    """Counts the steps that begin although a signal has been heard."""

    count = 0

    def before_run(self, run_context):
        self.count += signals.requested_stop() is not None


def train(directory, *, hooks=(), most_steps=10000, on_step=lambda step: None, **intervals):
    """Counts until told to stop; returns the last step."""
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory), hooks=list(hooks), **intervals
        ) as session:
            step = 0
            while not session.should_stop() and step < most_steps:
                step = int(session.run(train_op))
                on_step(step)
        return step


def saved_step(directory):
    return checkpoints.global_step_of(checkpoints.newest(str(directory)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_training_after_its_step_and_a_save(tmp_path, number):
    hook = SignalAt(number, step=7)
    with graphtrain.saving_on_signals() as heard:
        assert train(tmp_path, hooks=[hook]) == 7
    assert saved_step(tmp_path) == 7
    assert (heard.received, heard.exit_code) == (number.name, 75)
    assert hook.ended
    assert train(tmp_path, most_steps=1) == 8


def test_signals_at_random_moments_lose_no_step(tmp_path):
    """One run, stopped 20 times: while it starts, in steps, and in its many saves."""
    chance = random.Random(1)
    last = 0
    for _ in range(20):
        reached, at_signal = [last], []

        def send(reached=reached, at_signal=at_signal):
            at_signal.append((reached[-1], time.monotonic()))
            os.kill(os.getpid(), signal.SIGTERM)

        timer = threading.Timer(chance.uniform(0, 0.4), send)
        hook = BegunAfterASignal()
        with graphtrain.saving_on_signals() as heard:
            timer.start()
            stopped_at = train(
                tmp_path, hooks=[hook], on_step=reached.append, save_checkpoint_steps=20
            )
            timer.join()
        step_at_signal, sent_at = at_signal[0]
        # Without a step of its own a run has none to tell of: its last is that of the run before.
        last = max(last, stopped_at)
        assert saved_step(tmp_path) == last < 10000
        assert step_at_signal <= last
        assert hook.count <= 1
        assert time.monotonic() - sent_at < 5
        assert heard.exit_code == 75


def test_a_signal_can_ask_for_a_save_only(tmp_path):
    hook = SignalAt(signal.SIGUSR1, step=5)
    seen = []
    with graphtrain.saving_on_signals() as heard:
        train(
            tmp_path,
            hooks=[hook],
            most_steps=9,
            on_step=lambda step: seen.append(saved_step(tmp_path)),
        )
    assert seen[:5] == [0] * 5
    assert seen[5:] == [6] * 4
    assert heard.exit_code == 0


def test_the_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with graphtrain.saving_on_signals():
        assert [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)] != before
    assert [signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT)] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_an_error_puts_them_back_too(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyError), graphtrain.saving_on_signals():
        raise KeyError
    assert signal.getsignal(signal.SIGTERM) is before


def test_without_asking_signals_are_nobodys_business(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    train(tmp_path, most_steps=1, on_step=lambda step: None)
    assert signal.getsignal(signal.SIGTERM) is before
    assert signals.requested_stop() is None


def test_another_thread_cannot_listen():
    errors = []

    def listen():
        try:
            with graphtrain.saving_on_signals():
                pass
        except graphtrain.UsageError as error:
            errors.append(str(error))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert errors == ["saving_on_signals() works in the main thread of a process only."]


CHILD = """
import os, sys, time
import tensorflow as tf
import graphtrain

tf1 = tf.compat.v1
directory, patience_secs = sys.argv[1], float(sys.argv[2])

def wait(step):
    print(step, flush=True)
    time.sleep(1000 if step == 5 else 0)
    return step

with tf.Graph().as_default(), graphtrain.saving_on_signals(patience_secs=patience_secs) as heard:
    step = tf1.train.get_or_create_global_step()
    with tf.control_dependencies([tf1.py_func(wait, [step], tf.int64)]):
        train_op = tf1.assign_add(step, 1)
    with graphtrain.MonitoredTrainingSession(checkpoint_dir=directory) as session:
        while not session.should_stop():
            session.run(train_op)
"""


def stuck_process(directory, patience_secs):
    """A training process that waits for its input without end at step 5."""
    root = os.path.dirname(os.path.dirname(graphtrain.__file__))
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(directory), str(patience_secs)],
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        text=True,
    )
    while process.stdout.readline() != "5\n":
        pass
    process.send_signal(signal.SIGTERM)
    return process


def test_a_step_without_end_is_left_and_its_variables_saved(tmp_path):
    process = stuck_process(tmp_path, patience_secs=0.1)
    assert process.wait() == signals.EXIT_CODE
    assert saved_step(tmp_path) == 5


def test_a_second_signal_ends_it_at_once(tmp_path):
    process = stuck_process(tmp_path, patience_secs=1000)
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert saved_step(tmp_path) == 0
