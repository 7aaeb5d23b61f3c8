"""What every periodic hook does: when it reports, with which step, and what it fetches."""

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import hooks
from graphtrain.errors import UsageError

tf1 = tf.compat.v1


def counted_loss():
    """A loss of 10 * step, and the list that grows at each evaluation of it."""
    evaluations = []

    def evaluate(step):
        evaluations.append(int(step))
        return np.float32(10 * step)

    step = tf1.train.get_or_create_global_step()
    train_op = tf1.assign_add(step, 1)
    with tf1.control_dependencies([train_op]):
        loss = tf1.py_func(evaluate, [tf.cast(step.read_value(), tf.float32)], tf.float32)
    loss.set_shape([])
    return loss, train_op, evaluations


def test_the_loss_is_fetched_at_reported_steps_only(graph):
    loss, train_op, evaluations = counted_loss()
    lines = []
    hook = hooks.EpochReportHook(loss, steps_per_epoch=3, epochs=2, write=lines.append)
    with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in range(7):
            session.run(train_op)
    assert evaluations == [3, 6]
    assert lines == ["epoch 1/2, step 3, loss 30", "epoch 2/2, step 6, loss 60"]


def test_epochs_are_counted_from_step_0_after_a_resume(graph, tmp_path):
    loss, train_op, _ = counted_loss()
    lines = []
    for runs in (4, 4):
        hook = hooks.EpochReportHook(loss, steps_per_epoch=3, write=lines.append)
        last = tf1.train.StopAtStepHook(num_steps=runs)
        with tf1.train.MonitoredTrainingSession(
            None, True, str(tmp_path), hooks=[hook, last]
        ) as session:
            while not session.should_stop():
                session.run(train_op)
    assert lines == ["epoch 1, step 3, loss 30", "epoch 2, step 6, loss 60"]


def test_runs_that_do_not_train_give_no_report_and_delay_none(graph):
    loss, train_op, _ = counted_loss()
    lines = []
    hook = hooks.EpochReportHook(tf.constant(1.0), steps_per_epoch=2, write=lines.append)
    beside = tf.constant(0)
    with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for fetch in [beside, beside, beside, train_op, beside, train_op, beside, train_op]:
            session.run(fetch)
    assert lines == ["epoch 1, step 2, loss 1"]


def test_a_step_that_jumps_is_reported_as_it_is(graph):
    step = tf1.train.get_or_create_global_step()
    lines = []
    hook = hooks.EpochReportHook(tf.constant(1.0), steps_per_epoch=4, write=lines.append)
    by_five = tf1.assign_add(step, 5)
    with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in range(4):
            session.run(by_five)
    assert lines == ["epoch 5, step 20, loss 1"]


def test_tensors_may_be_given_by_name_or_summary_tag(graph):
    tf1.train.get_or_create_global_step()
    tf.constant(2.0, name="my_loss")
    train_op = tf1.assign_add(tf1.train.get_global_step(), 1)
    lines = []
    tf1.summary.scalar("loss", tf.constant(2.0))
    for name in ("my_loss", "my_loss:0", "loss"):
        hook = hooks.EpochReportHook(name, steps_per_epoch=1, write=lines.append)
        with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
            session.run(train_op)
    assert lines == ["epoch 1, step 1, loss 2"] * 3


def test_a_graph_without_global_step_is_an_error(graph):
    hook = hooks.EpochReportHook(tf.constant(1.0), steps_per_epoch=1)
    with pytest.raises(UsageError, match="EpochReportHook found no global step"):
        hook.begin()


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, None])
def test_a_period_that_is_no_count_is_refused(steps):
    with pytest.raises(UsageError, match=f"every_steps={steps} cannot be used"):
        hooks.EpochReportHook("loss", steps_per_epoch=steps)
