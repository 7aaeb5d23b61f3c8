import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import global_step

tf1 = tf.compat.v1


def test_makes_the_step_once(graph_mode):
    step = global_step.get_or_create()
    assert step.dtype.base_dtype == tf.int64
    assert global_step.get_or_create() is step
    assert tf1.train.get_global_step() is step


def test_takes_the_users_own_step(graph_mode):
    step = tf1.get_variable(
        "my_step",
        shape=[],
        dtype=tf.int32,
        trainable=False,
        initializer=tf1.zeros_initializer(),
        collections=[tf1.GraphKeys.GLOBAL_VARIABLES, tf1.GraphKeys.GLOBAL_STEP],
    )
    assert global_step.get_or_create() is step


def test_two_steps_are_named(graph_mode):
    tf1.train.create_global_step()
    other = tf1.get_variable("other_step", initializer=0, trainable=False)
    tf1.add_to_collection(tf1.GraphKeys.GLOBAL_STEP, other)
    message = r"'global_step:0' \(int64\) and 'other_step:0' \(int32\)"
    with pytest.raises(graphtrain.UsageError, match=message):
        global_step.get_or_create()


@pytest.mark.parametrize("value", [0.0, [1, 2]])
def test_a_wrongly_typed_step_is_named(graph_mode, value):
    variable = tf1.get_variable("float_step", initializer=tf.constant(value), trainable=False)
    tf1.add_to_collection(tf1.GraphKeys.GLOBAL_STEP, variable)
    with pytest.raises(graphtrain.UsageError, match="'float_step:0' must be an integer scalar"):
        global_step.get_or_create()


def test_a_variable_that_is_only_called_global_step(graph):
    tf.Variable(0.5, name="global_step")
    with pytest.raises(graphtrain.UsageError, match="'global_step:0' must be an integer scalar"):
        global_step.get_or_create()


def test_value_after_is_never_the_old_one(graph_mode):
    train_op = tf1.assign_add(global_step.get_or_create(), 1)
    after = global_step.value_after(train_op)
    with tf1.train.MonitoredSession() as session:
        assert [session.run(after) for _ in range(50)] == list(range(1, 51))


def test_hooks_see_the_step_before_the_increment(graph_mode):
    step = global_step.get_or_create()
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(
        tf1.get_variable("w", initializer=1.0), global_step=step
    )
    seen = []

    class Recorder(tf1.train.StepCounterHook):
        def after_run(self, run_context, run_values):
            seen.append(int(run_values.results))

    with graphtrain.MonitoredTrainingSession(hooks=[Recorder()]) as session:
        for _ in range(200):
            session.run(train_op)
    assert seen == list(range(200))


def test_the_users_own_read_stays(graph):
    own = tf.identity(global_step.get_or_create())
    tf1.add_to_collection("global_step_read_op_cache", own)
    global_step.let_hooks_read_before_increments()
    assert tf1.get_collection("global_step_read_op_cache") == [own]
