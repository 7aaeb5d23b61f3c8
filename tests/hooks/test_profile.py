"""A trace of some steps."""

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.hooks import ProfileHook

tf1 = tf.compat.v1


def test_a_trace_of_the_steps_asked_for(tmp_path):
    with tf.Graph().as_default():
        w = tf1.get_variable("w", [50, 50])
        loss = tf.reduce_mean(tf.matmul(w, w) ** 2)
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(
            loss, global_step=tf1.train.get_or_create_global_step()
        )
        hook = ProfileHook(str(tmp_path), first_step=3, last_step=5)
        with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
            for _ in range(8):
                session.run(train_op)
    (trace,) = tmp_path.glob("plugins/profile/*/*.xplane.pb")
    assert b"MatMul" in trace.read_bytes()


@pytest.mark.parametrize(("first", "last"), [(0, 5), (5, 4), (1.5, 3)])
def test_steps_that_make_no_sense(first, last):
    with pytest.raises(graphtrain.UsageError):
        ProfileHook("run", first_step=first, last_step=last)
