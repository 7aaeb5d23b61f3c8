"""At which steps there is a search, and what the others do and cost."""

import numpy as np
import pytest
from line import Line

from graphtrain import UsageError
from graphtrain.optimize.frequency import Adaptive


def test_every_third_step_is_searched(graph):
    line = Line(search_every=3, shrink=0.5)
    told = []
    for _ in range(7):
        told.append([*line.step("searched", "trials", "scale", curvature=3.0), line.forwards])
    searched, unsearched = [True, 2 + 1, 0.25, 1 + 3], [False, 0, 0.25, 1]
    assert told == [searched, unsearched, unsearched] * 2 + [searched]


def test_unsearched_steps_take_the_scale_accepted_last(graph):
    line = Line(search_every=2, shrink=0.5)
    assert line.step("scale", curvature=3.0) == 0.25
    # It would not be accepted: nobody asks.
    scale, accepted, loss_after = line.step("scale", "accepted", "loss_after", curvature=100.0)
    assert (scale, accepted, np.isnan(loss_after)) == (0.25, True, True)
    assert line.variables()["w"] == 0.25


def test_a_failed_search_keeps_the_scale_for_the_steps_after_it(graph):
    line = Line(search_every=2, shrink=0.5, min_scale=0.2)
    assert line.step("scale", "accepted", curvature=3.0) == [0.25, True]
    assert line.step("scale") == 0.25
    assert line.step("scale", "accepted", curvature=100.0) == [0.0, False]
    assert line.step("scale") == 0.25


def test_adaptive_searches_the_less_often_the_less_the_scale_changes(graph):
    line = Line(search_every=Adaptive(max_steps=7), shrink=0.5)
    random = np.random.RandomState(0)
    fast = slow = 1.0
    left = 0
    for step in range(60):
        curvature = 0.0 if step > 40 else 2.0 ** random.randint(0, 4) * 0.9
        searched, scale = line.step("searched", "scale", curvature=curvature)
        assert searched == (left == 0), step
        if searched:
            fast, slow = 0.9 * fast + 0.1 * scale, 0.99 * slow + 0.01 * scale
            ratio = max(fast / slow, slow / fast)
            left = 7 if ratio == 1 else int(np.clip(np.floor(1 / (ratio - 1)), 1, 7))
        left -= 1


def test_adaptive_by_name(graph):
    line = Line(search_every="adaptive")
    assert [line.step("searched") for _ in range(21)] == ([True] + [False] * 9) * 2 + [True]


@pytest.mark.parametrize(
    ("search_every", "message"),
    [
        (0, "search_every=0 cannot be used: give a whole number >= 1"),
        (2.5, "search_every=2.5 cannot be used: give a whole number >= 1"),
        (True, "search_every=True cannot be used: give a whole number >= 1"),
        ("often", "search_every='often' cannot be used: give a whole number or 'adaptive'"),
    ],
)
def test_bad_settings(graph, search_every, message):
    with pytest.raises(UsageError) as error:
        Line(search_every=search_every)
    assert str(error.value) == message
