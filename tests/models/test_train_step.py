import math

import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.models import layers
from graphtrain.models.train_step import TrainSettings, make_train_op
from graphtrain.optimize import schedules
from graphtrain.optimize.line_search import LineSearchOptimizer

tf1 = tf.compat.v1


def started_session():
    session = tf1.Session()
    session.run(tf1.global_variables_initializer())
    return session


def summarized(session):
    summary = tf1.Summary.FromString(session.run(tf1.summary.merge_all()))
    return {value.tag: value.simple_value for value in summary.value}


def test_defaults_are_the_articles():
    settings = TrainSettings.from_params(None)
    assert settings == TrainSettings.from_params({}) == TrainSettings()
    assert (settings.optimizer, settings.learning_rate) == ("sgd", 0.1)
    assert (settings.shrink, settings.min_learning_rate) == (0.3, 1e-6)


def test_unknown_params_are_named():
    with pytest.raises(UsageError, match=r"\['learning_rte'\].*optimizer.*learning_rate"):
        TrainSettings.from_params({"learning_rte": 0.1})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimizer", "SGD"),
        ("optimizer_settings", {"momentum": 0.9}),
        ("learning_rate", 0),
        ("learning_rate", math.nan),
        ("learning_rate", "0.1"),
        ("train_step", "linesearch"),
        ("condition", "wolfe"),
        ("first_scale", "large"),
        ("search_every", 0),
        ("shrink", 1.0),
        ("shrink", 0),
        ("min_learning_rate", 0),
        ("min_learning_rate", math.inf),
        ("on_failure", "ignore"),
        ("seed", 1.5),
        ("seed", -1),
    ],
)
def test_params_that_make_no_sense(name, value):
    with pytest.raises(UsageError):
        TrainSettings.from_params({name: value})


def test_a_step_follows_the_schedule(graph_mode):
    weight = tf1.get_variable("weight", initializer=1.0)
    schedule = schedules.exponential(0.25, decay_steps=1, decay_rate=0.5)
    train_op = make_train_op(weight**2, TrainSettings(learning_rate=schedule))
    with started_session() as session:
        assert summarized(session) == {"learning_rate": 0.25}
        session.run(train_op)
        assert session.run(weight) == 0.5
        session.run(train_op)
        assert session.run(weight) == 0.375
        assert session.run(tf1.train.get_global_step()) == 2


def test_optimizer_settings_reach_the_optimizer(graph):
    weight = tf1.get_variable("weight", initializer=1.0)
    settings = TrainSettings(
        optimizer="momentum", optimizer_settings={"momentum": 0.5}, learning_rate=0.125
    )
    train_op = make_train_op(weight * 1.0, settings)
    with started_session() as session:
        session.run(train_op)
        session.run(train_op)
        assert session.run(weight) == 1.0 - 0.125 - 0.125 * 1.5


@pytest.mark.parametrize("train_step", ["normal", "line_search"])
def test_moving_averages_move_once_a_step(graph_mode, train_step):
    inputs = tf.constant([[1.0], [3.0]])
    loss = tf.reduce_mean((layers.batch_norm(inputs, training=True, momentum=0.5) - 1.0) ** 2)
    # The first rates tried are far too large, so that the search makes several trials.
    learning_rate = 0.1 if train_step == "normal" else 1e3
    settings = TrainSettings(train_step=train_step, learning_rate=learning_rate)
    train_op = make_train_op(loss, settings)
    with started_session() as session:
        session.run(train_op)
        (mean,) = tf1.global_variables("batch_normalization/moving_mean")
        assert session.run(mean).tolist() == [1.0]


@pytest.mark.parametrize("train_step", ["normal", "line_search"])
def test_ten_and_ten_steps_with_dropout_equal_twenty(tmp_path, train_step):
    checkpoint = str(tmp_path / "model")
    settings = TrainSettings(train_step=train_step, optimizer="adam", seed=3)

    def run(steps, *, restore):
        with tf.Graph().as_default(), tf1.Session() as session:
            net = layers.dense(tf.ones([4, 5]), 6, seed=3)
            net = layers.dropout(net, rate=0.5, training=True, seed=3)
            train_op = make_train_op(tf.reduce_mean((net - 1.0) ** 2), settings)
            saver = tf1.train.Saver()
            session.run(tf1.global_variables_initializer())
            if restore:
                saver.restore(session, checkpoint)
            for _ in range(steps):
                session.run(train_op)
            saver.save(session, checkpoint)
            return session.run(tf1.trainable_variables())

    unbroken = run(20, restore=False)
    run(10, restore=False)
    for whole, parts in zip(unbroken, run(10, restore=True), strict=True):
        np.testing.assert_array_equal(whole, parts)


def test_the_search_is_the_one_that_was_asked_for(graph):
    weight = tf1.get_variable("weight", initializer=1.0)
    settings = TrainSettings(
        train_step="line_search",
        learning_rate=0.1,
        condition="armijo",
        first_scale="grow",
        search_every=2,
    )
    train_op = make_train_op(weight**2, settings)
    searched = tf1.summary.merge_all()
    scales = []
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(4):
            _, text = session.run([train_op, searched])
            values = {v.tag: v.simple_value for v in tf1.Summary.FromString(text).value}
            scales.append((values["line_search/trials"], round(values["line_search/scale"], 4)))
    # Every other step is searched, and the scale tried first grows by 1.3 from search to search.
    assert scales == [(1, 1.0), (0, 1.0), (1, 1.3), (0, 1.3)]


def test_a_search_shrinks_the_rate_down_to_the_floor(graph):
    weight = tf1.get_variable("weight", initializer=1.0)
    settings = TrainSettings(
        train_step="line_search", learning_rate=4.0, shrink=0.5, min_learning_rate=1e-3
    )
    train_op = make_train_op(weight**2, settings)
    with started_session() as session:
        _, summary = session.run([train_op, tf1.summary.merge_all()])
        values = {value.tag: value.simple_value for value in tf1.Summary.FromString(summary).value}
        # From 1 by -2 * rate: -7, -3, -1 and at last 0.
        assert session.run(weight) == 0.0
        assert values == {
            "learning_rate": 4.0,
            "line_search/trials": 4,
            "line_search/scale": 0.125,
            "line_search/rejected": 0,
        }


@pytest.mark.parametrize(("on_failure", "expected"), [("restore", 1.0), ("keep_last", -7.0)])
def test_a_floor_above_the_rate_leaves_one_trial(graph, on_failure, expected):
    weight = tf1.get_variable("weight", initializer=1.0)
    settings = TrainSettings(
        train_step="line_search",
        learning_rate=4.0,
        min_learning_rate=8.0,
        on_failure=on_failure,
    )
    train_op = make_train_op(weight**2, settings)
    with started_session() as session:
        _, summary = session.run([train_op, tf1.summary.merge_all()])
        assert session.run(weight) == expected
        values = {value.tag: value.simple_value for value in tf1.Summary.FromString(summary).value}
        assert (values["line_search/trials"], values["line_search/rejected"]) == (1, 1)


def test_all_trials_of_a_step_have_the_same_dropout_mask(graph_mode):
    net = layers.dense(tf.ones([50, 20]), 20, seed=1)
    net = layers.dropout(net, rate=0.5, training=True, seed=1)
    # At rate 0 no trial can fall: each must give exactly the loss it started from.
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(0.0), shrink=0.3)
    loss = tf.reduce_sum(net**2)
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    with started_session() as session:
        losses = []
        for _ in range(3):
            _, before, after, trials = session.run(
                [train_op, optimizer.loss_before, optimizer.loss_after, optimizer.trials]
            )
            assert before == after
            assert trials > 1
            losses.append(before)
    assert len(set(losses)) == 3
