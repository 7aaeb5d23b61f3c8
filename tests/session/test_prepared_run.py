import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session.prepared_run import prepared_run

tf1 = tf.compat.v1


class Ends(tf1.train.SessionRunHook):
    def end(self, session):
        pass


class Sees(tf1.train.SessionRunHook):
    def __init__(self):
        self.runs = 0

    def after_run(self, run_context, run_values):
        self.runs += 1


@pytest.mark.parametrize("seen", [False, True])
def test_values_by_their_names_and_hooks_that_are_called(graph_mode, seen):
    hook = Sees() if seen else Ends()
    with tf.Graph().as_default():
        step = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        fetches = {"step": step, "twice": (2 * step, step.op)}
        with graphtrain.MonitoredTrainingSession(hooks=[hook]) as session:
            run = prepared_run(session, fetches)
            assert run() == {"step": 1, "twice": (2, None)}
            assert run() == {"step": 2, "twice": (4, None)}
    assert not seen or hook.runs == 2
