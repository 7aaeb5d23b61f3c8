"""What the learning rate does when a run is resumed: keep, restart or override."""

import logging

import pytest
import tensorflow as tf
from lost_sessions import LosesSessions

import graphtrain
from graphtrain.models.train_step import TrainSettings, make_train_op
from graphtrain.optimize import schedules
from graphtrain.session import checkpoints, rate_on_resume

tf1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    """Each step adds its learning rate to the weight, searched or not."""
    weight = tf1.get_variable("w", initializer=0.0)
    loss = -weight * tf.reduce_mean(features)
    rate = schedules.exponential(params["rate"], decay_steps=2, decay_rate=0.5, staircase=True)
    settings = TrainSettings(learning_rate=rate, train_step=params["train_step"])
    return graphtrain.EstimatorSpec(mode, loss=loss, train_op=make_train_op(loss, settings))


def ones():
    return tf.data.Dataset.from_tensors([1.0]).repeat()


def train(
    directory, to_step, *, rate=0.5, train_step="normal", steps_per_run=1, hooks=None, **safety
):
    """Trains at a rate that is halved every second step; returns the sum of all rates so far."""
    config = graphtrain.RunConfig(
        save_checkpoints_steps=4,
        save_summary_steps=None,
        log_step_count_steps=None,
        steps_per_run=steps_per_run,
        safety=graphtrain.SafetyConfig(**safety),
    )
    params = {"rate": rate, "train_step": train_step}
    estimator = graphtrain.Estimator(model_fn, str(directory), config, params)
    estimator.train(ones, max_steps=to_step, hooks=hooks)
    return float(estimator.get_variable_value("w"))


@pytest.fixture(params=["normal", "line_search"])
def train_step(request):
    return request.param


def lines_about_the_rate(caplog):
    return [r.getMessage() for r in caplog.records if r.getMessage().startswith("the learning")]


def test_it_goes_on(tmp_path, train_step, caplog):
    unbroken = train(tmp_path / "unbroken", 8, train_step=train_step)
    assert unbroken == 2 * (0.5 + 0.25 + 0.125 + 0.0625)
    train(tmp_path / "run", 5, train_step=train_step)
    with caplog.at_level(logging.INFO, "tensorflow"):
        assert train(tmp_path / "run", 6, train_step=train_step) == unbroken - 2 * 0.0625
    assert lines_about_the_rate(caplog) == ["the learning rate goes on at step 5 of its schedule"]


@pytest.mark.parametrize("steps_per_run", [1, 4])
def test_it_restarts_and_goes_on_from_there(tmp_path, train_step, steps_per_run, caplog):
    settings = {"train_step": train_step, "steps_per_run": steps_per_run}
    before = train(tmp_path, 5, **settings)
    assert before == 2 * (0.5 + 0.25) + 0.125
    with caplog.at_level(logging.INFO, "tensorflow"):
        restarted = train(tmp_path, 8, learning_rate_on_resume="restart", **settings)
    assert restarted - before == 0.5 + 0.5 + 0.25
    assert lines_about_the_rate(caplog) == ["the learning rate's schedule restarts at step 5"]
    # The rest of the restarted schedule: step 8 is its fourth.
    assert train(tmp_path, 10, **settings) - restarted == 0.25 + 0.125
    assert rate_on_resume.origin_of(checkpoints.newest(str(tmp_path))) == 5


def test_it_gives_way_to_another(tmp_path, train_step, caplog):
    before = train(tmp_path, 3, train_step=train_step)
    settings = {"rate": 4.0, "train_step": train_step}
    with caplog.at_level(logging.INFO, "tensorflow"):
        overridden = train(tmp_path, 4, learning_rate_on_resume="override", **settings)
    # As at the fourth step of a run that had begun with it.
    assert overridden - before == 2.0
    assert lines_about_the_rate(caplog) == [
        "the learning rate at step 3 is what it is set to now, whatever the run had"
    ]
    assert train(tmp_path, 5, **settings) - overridden == 1.0


class HalvesTheScale(tf1.train.SessionRunHook):
    """As PlateauHook does."""

    def begin(self):
        self._halve = tf1.assign(graphtrain.learning_rate_scale(), 0.5)

    def after_create_session(self, session, coord):
        session.run(self._halve)


def test_only_another_rate_does_away_with_the_factor(tmp_path):
    before = train(tmp_path, 2, hooks=[HalvesTheScale()])
    assert before == 0.5
    kept = train(tmp_path, 4)
    assert kept - before == 0.25
    restarted = train(tmp_path, 5, learning_rate_on_resume="restart")
    assert restarted - kept == 0.25
    overridden = train(tmp_path, 6, rate=8.0, learning_rate_on_resume="override")
    assert overridden - restarted == 8.0
    assert train(tmp_path, 7, rate=8.0) - overridden == 4.0


def test_a_lost_session_does_not_restart_it_again(tmp_path):
    # Lost at 4, restarted at 3, before anything was saved; and at 6, when step 4 was.
    before = train(tmp_path, 3)
    hooks = [LosesSessions(4, 1), LosesSessions(6, 1)]
    restarted = train(tmp_path, 7, hooks=hooks, learning_rate_on_resume="restart")
    assert restarted - before == 0.5 + 0.5 + 0.25 + 0.25


def test_a_new_run_that_loses_its_session_was_not_resumed(tmp_path):
    hooks = [LosesSessions(6, 1)]
    rates = train(tmp_path, 8, hooks=hooks, learning_rate_on_resume="restart")
    assert rates == 2 * (0.5 + 0.25 + 0.125 + 0.0625)


def test_a_graph_of_ones_own(tmp_path):
    def rate_at_end(steps, **safety):
        with tf.Graph().as_default():
            train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
            step = graphtrain.learning_rate_step()
            rate = tf1.train.exponential_decay(1.0, step, 2, 0.5)
            with graphtrain.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path), safety=graphtrain.SafetyConfig(**safety)
            ) as session:
                for _ in range(steps):
                    session.run(train_op)
                return float(session.run_without_hooks(rate))

    assert rate_at_end(4) == 0.25
    assert rate_at_end(2, learning_rate_on_resume="restart") == 0.5
    assert rate_at_end(2) == 0.25


def test_a_checkpoint_that_does_not_say_has_its_origin_at_0(tmp_path):
    with tf.Graph().as_default():
        tf1.get_variable("w", initializer=1.0)
        tf1.train.get_or_create_global_step()
        with tf1.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)):
            pass
    assert rate_on_resume.origin_of(checkpoints.newest(str(tmp_path))) == 0
    assert train(tmp_path, 2) == 2.0


def test_a_rate_that_cannot_restart(graph, tmp_path):
    with pytest.raises(graphtrain.UsageError, match=r"function of graphtrain.learning_rate_step\("):
        graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path),
            safety=graphtrain.SafetyConfig(learning_rate_on_resume="restart"),
        )
    assert not list(tmp_path.iterdir())
