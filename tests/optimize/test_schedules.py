import math

import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import schedules

tf1 = tf.compat.v1


def rates_at(schedule, steps):
    """The rate of a schedule at each step, through a global step variable."""
    global_step = tf1.train.create_global_step()
    rate = schedule(global_step)
    assert rate.dtype == tf.float32
    assert rate.shape == []
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        values = []
        for step in steps:
            session.run(tf1.assign(global_step, step))
            values.append(session.run(rate))
    return np.array(values)


def check(schedule, expected):
    np.testing.assert_allclose(
        rates_at(schedule, list(expected)), list(expected.values()), rtol=1e-6
    )


def test_constant(graph):
    check(schedules.constant(0.3), {0: 0.3, 1: 0.3, 10**9: 0.3})


def test_exponential_starts_from_the_base_rate_each_time(graph):
    # Decay applied to its own result would give 0.1, 0.05, 0.0125.
    schedule = schedules.exponential(0.1, decay_steps=10, decay_rate=0.5)
    check(schedule, {0: 0.1, 10: 0.05, 20: 0.025, 5: 0.1 * math.sqrt(0.5)})


def test_exponential_staircase(graph):
    schedule = schedules.exponential(0.1, decay_steps=10, decay_rate=0.5, staircase=True)
    check(schedule, {0: 0.1, 9: 0.1, 10: 0.05, 19: 0.05, 20: 0.025, 31: 0.0125})


def test_piecewise_changes_after_the_boundary(graph):
    schedule = schedules.piecewise([100, 200], [0.1, 0.01, 0.001])
    check(schedule, {0: 0.1, 100: 0.1, 101: 0.01, 200: 0.01, 201: 0.001, 10**10: 0.001})


def test_piecewise_boundary_beyond_int32(graph):
    check(schedules.piecewise([2**33], [0.1, 0.2]), {2**33: 0.1, 2**33 + 1: 0.2})


def test_polynomial(graph):
    schedule = schedules.polynomial(0.5, decay_steps=100, end_learning_rate=0.1, power=2.0)
    check(schedule, {0: 0.5, 50: 0.2, 100: 0.1, 1000: 0.1})


def test_polynomial_cycle(graph):
    schedule = schedules.polynomial(0.4, decay_steps=100, end_learning_rate=0.0, cycle=True)
    check(schedule, {0: 0.4, 50: 0.2, 101: 0.4 * (1 - 101 / 200)})


def test_inverse_time(graph):
    schedule = schedules.inverse_time(0.9, decay_steps=10, decay_rate=2.0)
    check(schedule, {0: 0.9, 10: 0.3, 20: 0.18})


def test_inverse_time_staircase(graph):
    schedule = schedules.inverse_time(0.9, decay_steps=10, decay_rate=2.0, staircase=True)
    check(schedule, {9: 0.9, 10: 0.3, 19: 0.3})


def test_cosine(graph):
    schedule = schedules.cosine(0.5, decay_steps=100, alpha=0.2)
    check(schedule, {0: 0.5, 50: 0.3, 100: 0.1, 500: 0.1})


def test_linear_warmup_over_a_decay(graph):
    decay = schedules.exponential(0.1, decay_steps=10, decay_rate=0.5, staircase=True)
    schedule = schedules.linear_warmup(decay, warmup_steps=4)
    check(schedule, {0: 0.025, 1: 0.05, 2: 0.075, 3: 0.1, 9: 0.1, 10: 0.05})


def test_the_same_rate_in_each_graph_mode(graph_mode):
    schedule = schedules.linear_warmup(schedules.piecewise([3], [0.4, 0.2]), warmup_steps=2)
    check(schedule, {0: 0.2, 1: 0.4, 3: 0.4, 4: 0.2})


def test_whole_floats_are_step_counts(graph):
    check(schedules.exponential(1.0, decay_steps=1e1, decay_rate=0.5), {10: 0.5})


BAD_RATES = [0, 0.0, -0.1, math.nan, math.inf, -math.inf, "0.1", None, True]
BAD_STEPS = [0, -1, 0.5, 1.5, math.nan, math.inf, "10", None, True]


@pytest.mark.parametrize("rate", BAD_RATES)
def test_learning_rates_that_make_no_sense(rate):
    builders = [
        lambda: schedules.constant(rate),
        lambda: schedules.exponential(rate, decay_steps=1, decay_rate=0.5),
        lambda: schedules.piecewise([1], [0.1, rate]),
        lambda: schedules.polynomial(rate, decay_steps=1),
        lambda: schedules.inverse_time(rate, decay_steps=1, decay_rate=0.5),
        lambda: schedules.cosine(rate, decay_steps=1),
    ]
    for build in builders:
        with pytest.raises(UsageError, match="learning_rate") as error:
            build()
        assert repr(rate) in str(error.value)


@pytest.mark.parametrize("steps", BAD_STEPS)
def test_step_counts_that_make_no_sense(steps):
    builders = [
        lambda: schedules.exponential(0.1, decay_steps=steps, decay_rate=0.5),
        lambda: schedules.polynomial(0.1, decay_steps=steps),
        lambda: schedules.inverse_time(0.1, decay_steps=steps, decay_rate=0.5),
        lambda: schedules.cosine(0.1, decay_steps=steps),
        lambda: schedules.linear_warmup(schedules.constant(0.1), warmup_steps=steps),
    ]
    for build in builders:
        with pytest.raises(UsageError, match="_steps=.*whole number >= 1"):
            build()


@pytest.mark.parametrize("rate", [0, -0.5, 1.5, math.nan, math.inf])
def test_decay_rates_that_make_no_sense(rate):
    with pytest.raises(UsageError, match="decay_rate=.*> 0 and <= 1"):
        schedules.exponential(0.1, decay_steps=10, decay_rate=rate)


@pytest.mark.parametrize("rate", [0, -0.5, math.nan, math.inf])
def test_inverse_time_decay_rates_that_make_no_sense(rate):
    with pytest.raises(UsageError, match="decay_rate=.*> 0"):
        schedules.inverse_time(0.1, decay_steps=10, decay_rate=rate)


@pytest.mark.parametrize("boundaries", [[], [5, 5], [5, 3], [-1, 3], [1.5, 3], [math.nan, 3]])
def test_boundaries_that_make_no_sense(boundaries):
    with pytest.raises(UsageError, match="boundaries="):
        schedules.piecewise(boundaries, [0.1] * (len(boundaries) + 1))


def test_as_many_rates_as_boundaries():
    with pytest.raises(UsageError, match="give 3 rates"):
        schedules.piecewise([1, 2], [0.1, 0.2])


@pytest.mark.parametrize(
    "settings", [{"end_learning_rate": 0.2}, {"end_learning_rate": -0.1}, {"power": 0}]
)
def test_polynomial_ends_that_make_no_sense(settings):
    with pytest.raises(UsageError, match=next(iter(settings))):
        schedules.polynomial(0.1, decay_steps=10, **settings)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan])
def test_cosine_ends_that_make_no_sense(alpha):
    with pytest.raises(UsageError, match="alpha="):
        schedules.cosine(0.1, decay_steps=10, alpha=alpha)


def test_warmup_of_a_number():
    with pytest.raises(UsageError, match="schedule=0.1"):
        schedules.linear_warmup(0.1, warmup_steps=5)
