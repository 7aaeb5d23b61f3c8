"""Which variables are an optimizer's, and a resumed run that begins with a fresh one."""

import numpy as np
import pytest
import tensorflow as tf
from lost_sessions import LosesSessions

import graphtrain
from graphtrain.models import layers
from graphtrain.session.optimizer_state import optimizer_variables

tf1 = tf.compat.v1

OPTIMIZERS = {
    "momentum": (
        lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
        ["dense/bias/Momentum", "dense/kernel/Momentum"],
    ),
    "searched": (
        lambda: graphtrain.LineSearchOptimizer(
            tf1.train.MomentumOptimizer(0.1, 0.9), first_scale="grow"
        ),
        ["dense/bias/Momentum", "dense/kernel/Momentum", "line_search/first_scale"],
    ),
}


def train(directory, make, steps, *, hooks=(), **safety):
    """Trains on; returns all variables by name."""
    with tf.Graph().as_default() as graph:
        rows = tf.constant(np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3))
        net = layers.batch_norm(rows, training=True)
        hidden = tf.cond(tf.reduce_sum(rows) > 0, lambda: net, lambda: rows)
        loss = tf.reduce_mean((layers.dense(hidden, 1, seed=1) - 1.0) ** 2)
        step = tf1.train.get_or_create_global_step()
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            train_op = make().minimize(loss, step, var_list=tf1.trainable_variables("dense"))
        names = sorted(variable.op.name for variable in optimizer_variables(graph))
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory),
            hooks=list(hooks),
            safety=graphtrain.SafetyConfig(**safety),
        ) as session:
            before = session.run_without_hooks({v.op.name: v for v in tf1.global_variables()})
            for _ in range(steps):
                session.run(train_op)
    return names, before


@pytest.mark.parametrize(("make", "wanted"), OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_only_the_optimizer_begins_anew(graph_mode, tmp_path, make, wanted):
    names, fresh = train(tmp_path, make, 3)
    assert names == wanted
    _, resumed = train(tmp_path, make, 0)
    _, reset = train(tmp_path, make, 0, reset_optimizer=True)
    for name, value in reset.items():
        expected = fresh if name in wanted else resumed
        np.testing.assert_array_equal(value, expected[name])
    assert reset["global_step"] == 3
    assert any(not np.array_equal(resumed[name], fresh[name]) for name in wanted)


def test_it_begins_anew_again_if_the_session_is_lost_before_a_save(tmp_path):
    make, _ = OPTIMIZERS["momentum"]
    ends = []
    # The step that is lost is made again, from the checkpoint of step 3.
    for name, steps, hooks in (("whole", 2, []), ("lost", 3, [LosesSessions(4, 1)])):
        train(tmp_path / name, make, 3)
        train(tmp_path / name, make, steps, hooks=hooks, reset_optimizer=True)
        ends.append(train(tmp_path / name, make, 0)[1])
    assert ends[0].keys() == ends[1].keys()
    for name, value in ends[0].items():
        np.testing.assert_array_equal(ends[1][name], value)
