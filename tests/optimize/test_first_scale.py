"""Which scale is tried first, step after step."""

import pytest
from line import Line

from graphtrain import UsageError
from graphtrain.optimize.first_scale import Grow, Polyak


def scales(line, count, **numbers):
    return [line.step("scale", **numbers) for _ in range(count)]


def test_constant_begins_anew(graph):
    line = Line(shrink=0.5)
    assert line.step("scale", curvature=5.0) == 0.125
    assert scales(line, 2) == [1.0, 1.0]


def test_grow_multiplies_the_scale_accepted_last(graph):
    line = Line(first_scale=Grow(1.5, max_scale=3.0), shrink=0.5)
    assert scales(line, 5) == [1.0, 1.5, 2.25, 3.0, 3.0]
    assert line.step("scale", "trials", curvature=1.0) == [0.75, 3]
    assert scales(line, 2) == [1.125, 1.6875]


def test_grow_by_a_factor_an_epoch(graph):
    line = Line(first_scale=Grow(2.0, steps_per_factor=4))
    assert scales(line, 9) == pytest.approx([2 ** (step / 4) for step in range(9)], rel=1e-12)


def test_grow_begins_with_its_cap_if_that_is_below_1(graph):
    assert scales(Line(first_scale=Grow(1.5, max_scale=0.5)), 3) == [0.5, 0.5, 0.5]


def test_grow_comes_back_from_ten_bad_batches(graph):
    line = Line(first_scale=Grow(1.5, min_first_scale=1e-2), shrink=0.1, min_scale=1e-6)
    bad = scales(line, 10, curvature=2e4)
    assert bad == pytest.approx([1e-5] * 10)
    good = scales(line, 13)
    assert good == pytest.approx([1e-2 * 1.5**step for step in range(13)])
    # log(1 / 1e-2) / log(1.5) is 11.4.
    assert good[11] < 1 < good[12]


def test_grow_keeps_the_scale_over_failed_searches(graph):
    line = Line(first_scale=Grow(1.5), min_scale=0.5, shrink=0.5)
    assert scales(line, 2) == [1.0, 1.5]
    assert [line.step("trials", "accepted", curvature=100.0) for _ in range(10)] == [
        [3, False]
    ] * 10
    assert line.step("scale") == 2.25


def test_polyak_begins_where_the_tangent_meets_the_least_loss(graph):
    line = Line(first_scale=Polyak(c=0.5, least_loss=0.25, max_scale=3.0))
    assert line.step("scale", height=0.5) == (0.5 - 0.25) / 0.5
    assert line.step("scale", height=0.5, tilt=0.5) == (0.5 - 0.25) / (0.5 * 0.25)
    assert line.step("scale", height=100.0) == 3.0


def test_polyak_remembers_the_trials_that_were_rejected(graph):
    line = Line(first_scale=Polyak(c=1.0, shrink=0.5), shrink=0.5)
    # The first scale is the height; scales below 1 / curvature are accepted.
    assert line.step("scale", "trials", height=8.0, curvature=1.0) == [0.5, 5]
    # Four were rejected, and three of them are remembered.
    assert line.step("scale", "trials", height=8.0) == [1.0, 1]
    # None was: one less.
    assert line.step("scale", "trials", height=8.0) == [2.0, 1]
    # One is left; two more are rejected, and one of them remembered.
    assert line.step("scale", "trials", height=8.0, curvature=0.9) == [1.0, 3]
    assert line.step("scale", "trials", height=8.0) == [2.0, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Grow(0.9), "factor=0.9 cannot be used: give a finite number >= 1"),
        (
            lambda: Grow(steps_per_factor=0),
            "steps_per_factor=0 cannot be used: give a whole number >= 1",
        ),
        (lambda: Grow(max_scale=0), "max_scale=0 cannot be used: give a finite number > 0"),
        (
            lambda: Grow(max_scale=0.1, min_first_scale=0.2),
            "min_first_scale=0.2 cannot be used: give a finite number > 0 and <= 0.1",
        ),
        (lambda: Polyak(c=-1), "c=-1 cannot be used: give a finite number > 0"),
        (
            lambda: Polyak(least_loss=float("inf")),
            "least_loss=inf cannot be used: give a finite number",
        ),
        (lambda: Polyak(shrink=1), "shrink=1 cannot be used: give a finite number > 0 and < 1"),
        (
            lambda: Line(first_scale=2.0),
            "first_scale=2.0 cannot be used: give one of ('constant', 'grow', 'polyak'), or a "
            "Grow or Polyak object",
        ),
        (
            lambda: Line(first_scale="shrink"),
            "first_scale='shrink' cannot be used: choose one of 'constant', 'grow', 'polyak'",
        ),
    ],
)
def test_bad_settings(graph, make, message):
    with pytest.raises(UsageError) as error:
        make()
    assert str(error.value) == message
