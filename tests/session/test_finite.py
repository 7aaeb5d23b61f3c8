import glob
import os

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints
from graphtrain.session.finite import NotFiniteError

tf1 = tf.compat.v1


def train(directory, *, bad_step, value=np.nan, steps=12, trainable=True):
    """Trains `w`, whose gradient is bad at one step, saving every 4."""
    step = tf1.train.get_or_create_global_step()
    tf1.get_variable("good", initializer=1.0)
    weight = tf1.get_variable("w", initializer=[1.0, 2.0], trainable=trainable)
    bad = tf.cast(tf.equal(tf.cast(step, tf.int64), bad_step - 1), tf.float32)
    change = tf.where(bad > 0, tf.constant([0.0, value]), tf.constant([0.1, 0.1]))
    with tf.control_dependencies([tf1.assign_sub(weight, change)]):
        train_op = tf1.assign_add(step, 1)
    with graphtrain.MonitoredTrainingSession(
        checkpoint_dir=str(directory), save_checkpoint_steps=4
    ) as session:
        for _ in range(steps):
            session.run(train_op)


def test_what_is_not_finite_is_never_saved(graph_mode, tmp_path):
    message = "At step 8 w held numbers that are not finite: they were not saved"
    with pytest.raises(NotFiniteError, match=message):
        train(tmp_path, bad_step=7)
    assert checkpoints.newest(str(tmp_path)).endswith("model.ckpt-4")
    for index in glob.glob(f"{tmp_path}/*.index"):
        assert np.isfinite(tf.train.load_variable(index[: -len(".index")], "w")).all()
    assert not os.path.exists(tmp_path / "unfinished_save")


def test_nor_at_the_end(graph, tmp_path):
    with pytest.raises(NotFiniteError, match="At step 6 w held"):
        train(tmp_path, bad_step=6, steps=6, value=np.inf)
    assert checkpoints.newest(str(tmp_path)).endswith("model.ckpt-4")


def test_tensorflows_name_for_it_is_understood(graph, tmp_path):
    with pytest.raises(tf1.train.NanLossDuringTrainingError):
        train(tmp_path, bad_step=2)


def test_what_is_not_trained_may_be_infinite(graph, tmp_path):
    tf1.get_variable("best_loss", initializer=np.float32(np.inf), trainable=False)
    train(tmp_path, bad_step=-1, steps=4)
    assert checkpoints.newest(str(tmp_path)).endswith("model.ckpt-4")


def model_fn(features, labels, mode, params):
    """Loss (w * x)^2 at rate 0.25, so that w halves; while the step is bad it is nan or w is."""
    step = tf1.train.get_global_step()
    weight = tf1.get_variable("w", initializer=params.get("start", 1.0))
    bad = tf.reduce_any(tf.equal(tf.cast(step, tf.int32) + 1, params["bad_steps"]))
    # A smaller rate is what helps.
    rate = 0.25 * graphtrain.learning_rate_scale()
    bad = bad & (rate > params.get("good_rate", -1.0))
    nan = tf.where(bad, np.float32(np.nan), 0.0)
    loss = (weight * features) ** 2 / 2 + (nan if params["where"] == "loss" else 0.0)
    optimizer = tf1.train.MomentumOptimizer(rate, params.get("momentum", 0.0))
    gradient, _ = optimizer.compute_gradients(loss)[0]
    # The step is read before it rises.
    with tf.control_dependencies([loss, nan]):
        gradient += nan if params["where"] == "gradient" else 0.0
    train_op = optimizer.apply_gradients([(gradient, weight)], step)
    return graphtrain.EstimatorSpec(mode, weight, loss, train_op)


def estimator(directory, *, steps_per_run=1, params=None, **safety):
    config = graphtrain.RunConfig(
        save_checkpoints_steps=4,
        steps_per_run=steps_per_run,
        safety=graphtrain.SafetyConfig(**safety),
    )
    return graphtrain.Estimator(model_fn, str(directory), config, params)


def ones():
    return tf.data.Dataset.from_tensors(1.0).repeat()


@pytest.mark.parametrize("steps_per_run", [1, 3])
@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_a_step_is_skipped_without_a_trace(tmp_path, where, steps_per_run, capfd):
    params = {"bad_steps": [3, 7], "where": where, "momentum": 0.5}
    run = estimator(
        tmp_path / "run", params=params, on_not_finite="skip_step", steps_per_run=steps_per_run
    )
    run.train(ones, max_steps=10)
    shorter = estimator(tmp_path / "shorter", params={**params, "bad_steps": [99]})
    shorter.train(ones, max_steps=8)
    for name in ("w", "w/Momentum"):
        assert run.get_variable_value(name) == shorter.get_variable_value(name) != 0
    assert run.get_variable_value("global_step") == 10
    # A gradient that is bad makes the slot so too, which comes after.
    name = "the loss" if where == "loss" else "w"
    lines = [line for line in capfd.readouterr().err.splitlines() if "was skipped" in line]
    assert lines == [f"the step to {step} was skipped: {name} is not finite" for step in (3, 7)]


def test_too_many_skipped_in_a_row_end_the_run(tmp_path):
    params = {"bad_steps": [5, 6, 7, 8, 9], "where": "gradient"}
    run = estimator(tmp_path, params=params, on_not_finite="skip_step", max_bad_steps=3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="steps in a row were not finite"):
        run.train(ones, max_steps=10)
    assert run.get_variable_value("global_step") == 4


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_a_run_goes_back_with_a_smaller_rate(tmp_path, where, caplog):
    params = {"bad_steps": [7], "where": where, "good_rate": 0.1}
    run = estimator(tmp_path, params=params, on_not_finite="roll_back")
    run.train(ones, max_steps=8)
    assert run.get_variable_value("learning_rate_scale") == 0.25
    np.testing.assert_allclose(
        run.get_variable_value("w"), 0.75**4 * (1 - 0.25 * 0.25) ** 4, rtol=1e-6
    )
    assert "roll-back 2 of at most 3: going on from step 4" in caplog.text
    assert "the learning rate is now scaled by 0.25" in caplog.text
    run.train(ones, max_steps=9)
    assert run.get_variable_value("learning_rate_scale") == 0.25


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_it_gives_up_in_the_end(tmp_path, where):
    params = {"bad_steps": [7], "where": where}
    run = estimator(tmp_path, params=params, on_not_finite="roll_back", max_roll_backs=2)
    with pytest.raises(tf1.train.NanLossDuringTrainingError):
        run.train(ones, max_steps=8)
    assert run.get_variable_value("global_step") == 4
    assert np.isfinite(run.get_variable_value("w"))


def test_going_back_needs_a_rate_that_can_be_scaled(graph, tmp_path):
    with pytest.raises(graphtrain.UsageError, match="multiply it by graphtrain.learning_rate_s"):
        graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), safety=graphtrain.SafetyConfig(on_not_finite="roll_back")
        )
