"""What a worker in step does, shown by a group of one: it needs no other process."""

import numpy as np
import pytest
import tensorflow as tf
from graph_modes import GRAPH_MODES

import graphtrain
from graphtrain.distribute import agreement, all_reduce
from graphtrain.session import inputs, lost_worker

tf1 = tf.compat.v1

OPTIMIZERS = {
    "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf1.train.AdamOptimizer(0.1),
}


def trained(optimizer, *, in_step, way="minimize"):
    """The variables after an epoch, and the sums of a step."""
    with tf.Graph().as_default() as graph:
        if in_step:
            all_reduce.use(all_reduce.WorkerGroup(1, 0))
        step = tf1.train.create_global_step()
        number, _ = inputs.features_and_labels(tf.data.Dataset.range(5))
        table = tf1.get_variable("table", [4, 2], initializer=tf1.ones_initializer())
        weight = tf1.get_variable("weight", initializer=2.0)
        # How many rows are touched differs from step to step.
        rows = tf.boolean_mask([0, 1, 1, 3], tf.range(4) <= tf.cast(number, tf.int32))
        loss = tf.reduce_sum((weight * tf.gather(table, rows)) ** 2)
        if way == "search":
            optimizer = graphtrain.LineSearchOptimizer(optimizer, condition="armijo")
        else:
            optimizer = graphtrain.AllReduceOptimizer(optimizer)
        if way == "gradients":
            variables = [table, weight]
            # Without the gate a ref variable may be moved before the other's gradient is computed.
            gradients = tf.gradients(loss, variables, gate_gradients=True)
            train_op = optimizer.apply_gradients(zip(gradients, variables, strict=True), step)
        else:
            train_op = optimizer.minimize(loss, step)
        with graphtrain.MonitoredTrainingSession() as session:
            while not session.should_stop():
                session.run(train_op)
                values = session.run_without_hooks(tf1.global_variables())
        names = [variable.name for variable in tf1.global_variables()]
        return dict(zip(names, values, strict=True)), all_reduce.sums_in(graph)


@pytest.mark.parametrize("mode", GRAPH_MODES, ids=str)
@pytest.mark.parametrize("way", ["minimize", "gradients", "search"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_group_of_one_trains_as_one_process(name, way, mode):
    with mode.switched_on():
        alone, no_sums = trained(OPTIMIZERS[name](), in_step=False, way=way)
        in_step, sums = trained(OPTIMIZERS[name](), in_step=True, way=way)
    assert alone["global_step:0"] == 5
    assert list(alone) == list(in_step)
    for variable, value in alone.items():
        np.testing.assert_array_equal(in_step[variable], value, strict=True)
    # Wishes, batches, dense gradients (and the loss); how many rows, which, and their values; of a
    # search the slope and the loss of a trial.
    assert (no_sums, sums) == (0, 6 + 2 * (way == "search"))


def test_gradients_are_averaged_once():
    with tf.Graph().as_default() as graph:
        all_reduce.use(all_reduce.WorkerGroup(1, 0))
        weight = tf1.get_variable("weight", initializer=2.0)
        optimizer = graphtrain.AllReduceOptimizer(tf1.train.GradientDescentOptimizer(0.1))
        pairs = optimizer.compute_gradients(weight**2)
        before = all_reduce.sums_in(graph)
        clipped, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 1.0)
        optimizer.apply_gradients([(clipped[0], weight)])
        assert all_reduce.sums_in(graph) == before == 2


def test_a_request_to_stop_is_heard_before_the_next_step():
    with tf.Graph().as_default():
        all_reduce.use(all_reduce.WorkerGroup(1, 0))
        agreed = agreement.of_default_graph()
        with tf.control_dependencies([agreed.go_on]):
            train_op = tf1.assign_add(tf1.train.create_global_step(), 1)
        steps = []
        with graphtrain.MonitoredTrainingSession() as session:
            while not session.should_stop():
                steps.append(int(session.run(train_op)))
                if steps[-1] == 3:
                    session.request_stop("enough")
        assert steps == [1, 2, 3]
        assert session.stop_reason == "enough"


def test_only_steps_wait_for_other_workers(monkeypatch):
    """A worker may be gone while this one saves: then no error is about that."""
    steps = []

    class Watch(lost_worker.StallWatch):
        def step(self):
            steps.append(1)
            return super().step()

    monkeypatch.setattr(lost_worker, "StallWatch", Watch)
    with tf.Graph().as_default():
        all_reduce.use(all_reduce.WorkerGroup(1, 0))
        agreed = agreement.of_default_graph()
        number = tf1.placeholder_with_default(1, [])
        with tf.control_dependencies([agreed.go_on]):
            train_op = tf1.assign_add(tf1.train.create_global_step(), 1)
        fails = tf.debugging.Assert(number > 1, ["it is 1"])
        with graphtrain.MonitoredTrainingSession() as session:
            begun = len(steps)
            session.run(train_op)
            session.run({"step": [train_op]}, {number: 2})
            assert len(steps) == begun + 2
            session.run_without_hooks([number, "global_step:0"])
            with pytest.raises(tf.errors.OpError):
                session.run_without_hooks(fails)
            assert len(steps) == begun + 2
