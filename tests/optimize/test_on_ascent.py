"""Steps that lead uphill on their own batch, or begin where the loss is not finite."""

import numpy as np
import pytest
import tensorflow as tf
from line import Line

from graphtrain import UsageError

tf1 = tf.compat.v1


def momentum_line(**search):
    return Line(tf1.train.MomentumOptimizer(1.0, 0.5), shrink=0.5, min_scale=0.1, **search)


def uphill(line, *names):
    """After a step to w = 1: a step of 0.5 - 0.25, where the slope is 0.25."""
    assert line.step("ascent", "scale") == [False, 1.0]
    return line.step("ascent", "searched", "accepted", "trials", "scale", tilt=-0.25, **dict(names))


def test_searched_all_the_same(graph):
    assert uphill(momentum_line()) == [True, True, False, 4, 0.0]


def test_searched_and_good_further_on(graph):
    # f(0.25) = 1 + 0.0625 - 0.125.
    told = uphill(momentum_line(), ("curvature", -2.0))
    assert told == [True, True, True, 1, 1.0]


@pytest.mark.parametrize("condition", ["armijo", "nonmonotone"])
def test_no_leave_to_rise_because_the_slope_does(graph, condition):
    assert uphill(momentum_line(condition=condition)) == [True, True, False, 4, 0.0]


def test_accepted_unsearched_at_the_scale_accepted_last(graph):
    line = momentum_line(on_ascent="accept")
    assert line.step("scale", curvature=3.0) == 0.25
    # The velocity is 1; half of it less 0.25, of which a quarter is taken.
    told = line.step("ascent", "searched", "accepted", "trials", "scale", tilt=-0.25)
    assert told == [True, False, True, 0, 0.25]
    assert line.variables()["w"] == 0.0625
    assert line.step("ascent", "searched") == [False, True]


def test_restored(graph):
    line = momentum_line(on_ascent="restore")
    line.step()
    before = line.variables()
    told = line.step("ascent", "searched", "accepted", "trials", "scale", tilt=-0.25)
    assert told == [True, False, False, 0, 0.0]
    after = line.variables()
    assert after.pop("global_step") == before.pop("global_step") + 1
    assert (before.pop("w"), after.pop("w")) == (1.0, 0.0)
    assert after == before
    assert len(after) == 1


@pytest.mark.parametrize("search_every", [1, 3, "adaptive"])
@pytest.mark.parametrize("first_scale", ["grow", "polyak"])
def test_a_loss_that_is_not_finite_is_skipped_without_a_trace(graph, first_scale, search_every):
    line = momentum_line(
        condition="nonmonotone",
        first_scale=first_scale,
        search_every=search_every,
        on_nonfinite_loss="skip",
    )
    line.step(curvature=2.0)
    for height in (np.nan, np.inf, -np.inf):
        line.session.run(line.w.initializer)
        before = line.variables()
        told = line.step("searched", "accepted", "trials", "scale", height=height)
        assert told == [False, False, 0, 0.0]
        after = line.variables()
        assert after.pop("global_step") == before.pop("global_step") + 1
        assert after == before
    line.step()
    assert line.variables()["w"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"on_ascent": "skip"},
            "on_ascent='skip' cannot be used: choose one of 'search', 'accept', 'restore'",
        ),
        (
            {"on_nonfinite_loss": "ignore"},
            "on_nonfinite_loss='ignore' cannot be used: choose one of 'error', 'skip'",
        ),
        (
            {"on_failure": "ignore"},
            "on_failure='ignore' cannot be used: choose one of 'restore', 'keep_last'",
        ),
    ],
)
def test_bad_settings(graph, arguments, message):
    with pytest.raises(UsageError) as error:
        Line(**arguments)
    assert str(error.value) == message
