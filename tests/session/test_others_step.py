"""The loop and the hooks where other processes raise the global step too."""

import pytest
import tensorflow as tf

import graphtrain
from graphtrain import hooks
from graphtrain.session import checkpoints, loop
from graphtrain.session.saver_hook import SaverHook

tf1 = tf.compat.v1


def train(train_op, *, max_steps, run_hooks=(), directory=None, others_step=True):
    train_step = loop.prepare(train_op, tf.constant(0.5))
    with graphtrain.MonitoredTrainingSession(
        checkpoint_dir=directory, hooks=run_hooks, save_checkpoint_secs=0, save_summaries_steps=0
    ) as session:
        return loop.run(session, train_step, max_steps=max_steps, others_step=others_step)


def step_of_three():
    """A train op beside which two other workers make a step each."""
    return tf1.assign_add(tf1.train.get_or_create_global_step(), 3)


def test_a_step_that_jumps_is_no_mistake_where_others_step(graph):
    assert train(step_of_three(), max_steps=10).global_step == 12


def test_a_step_that_jumps_is_a_mistake_elsewhere(graph):
    with pytest.raises(graphtrain.UsageError, match="One run .* from 0 to 3; it must rise by exa"):
        train(step_of_three(), max_steps=10, others_step=False)


def test_a_step_that_never_rises_is_a_mistake(graph):
    tf1.train.get_or_create_global_step()
    with pytest.raises(graphtrain.UsageError, match="10 runs of the train_op took .* from 0 to 0"):
        train(tf.no_op(), max_steps=10)


def test_a_step_may_rise_late(graph):
    step, runs = tf1.train.get_or_create_global_step(), tf1.get_variable("runs", initializer=0)
    train_op = tf1.assign_add(step, tf.cast(tf1.assign_add(runs, 1) > 5, tf.int64))
    assert train(train_op, max_steps=2).global_step == 2


def test_checkpoints_are_saved_when_the_interval_was_passed(graph, tmp_path):
    scaffold_saver = tf1.train.Saver(max_to_keep=None, defer_build=True)
    tf1.add_to_collection(tf1.GraphKeys.SAVERS, scaffold_saver)
    saver = SaverHook(str(tmp_path), save_steps=10)
    train(step_of_three(), max_steps=33, run_hooks=[saver], directory=str(tmp_path))
    steps = [checkpoints.global_step_of(path) for path in checkpoints.kept(str(tmp_path))]
    assert steps == [0, 12, 21, 30, 33]


def test_reports_come_when_the_interval_was_passed(graph):
    lines = []
    hook = hooks.EpochReportHook(tf.constant(1.0), steps_per_epoch=10, write=lines.append)
    train(step_of_three(), max_steps=33, run_hooks=[hook])
    # A report needs the values of its own run: it comes one run after the passing is known.
    assert [line.split(",")[1] for line in lines] == [" step 12", " step 21", " step 30"]
