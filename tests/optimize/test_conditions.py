"""When a trial is good enough, at the very edge."""

import numpy as np
import pytest
import tensorflow as tf
from line import Line

from graphtrain import UsageError
from graphtrain.optimize.conditions import Armijo, NonMonotone

tf1 = tf.compat.v1


def test_decrease_wants_the_loss_to_fall(graph):
    line = Line(shrink=0.5)
    # At scale 1 the loss is what it was: no decrease.
    assert line.step("scale", curvature=1.0) == 0.5


def test_armijo_wants_its_part_of_the_promised_fall(graph):
    line = Line(condition=Armijo(c=0.25), shrink=0.5, relative_tolerance=0.0)
    # At scale 1 it fell by 1 - curvature, of the 1 that the slope promises.
    assert line.step("scale", curvature=0.75) == 1.0
    assert line.step("scale", curvature=0.75 + 1e-12) == 0.5


def test_nonmonotone_lets_the_loss_rise_to_its_average(graph):
    line = Line(condition=NonMonotone(c=0.5, xi=1.0), shrink=0.5, relative_tolerance=0.0)
    assert line.step("scale", height=4.0) == 1.0
    # The average is (4 + 2) / 2 = 3: a loss of 3 - 0.5 is good enough, 0.5 above the present.
    assert line.step("scale", height=2.0, curvature=1.5) == 1.0
    # Now (4 + 2 + 2) / 3.
    assert line.step("scale", height=2.0, curvature=1.5) == 0.5


def test_nonmonotone_averages_are_those_of_the_formula(graph):
    losses = np.random.RandomState(0).rand(8)
    line = Line(condition=NonMonotone(xi=0.7))
    q = c = 0.0
    for loss in losses:
        line.step(height=loss)
        c, q = (0.7 * q * c + loss) / (0.7 * q + 1), 0.7 * q + 1
        values = line.variables()
        np.testing.assert_allclose(values["line_search/loss_average"], c, rtol=1e-14)
        np.testing.assert_allclose(values["line_search/loss_weight"], q, rtol=1e-14)


@pytest.mark.parametrize("condition", ["armijo", "nonmonotone"])
@pytest.mark.parametrize("height", [0.0, 1.0, 1e6])
def test_one_trial_at_a_flat_spot(graph, condition, height):
    line = Line(condition=condition)
    assert line.step("trials", "accepted", height=height, tilt=0.0) == [1, True]


def test_a_tolerance_ends_the_search_for_a_decrease_at_a_flat_spot(graph):
    assert Line(relative_tolerance=1e-6).step("trials", tilt=0.0) == 1


def test_a_tolerance_is_a_part_of_the_loss_before(graph):
    line = Line(relative_tolerance=0.25, shrink=0.5)
    # At scale 1 the loss is 8 + curvature - 1.
    assert line.step("scale", height=8.0, curvature=2.99) == 1.0
    assert line.step("scale", height=8.0, curvature=3.0) == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Armijo(c=0), "c=0 cannot be used: give a finite number > 0 and < 1"),
        (lambda: NonMonotone(c=1), "c=1 cannot be used: give a finite number > 0 and < 1"),
        (lambda: NonMonotone(xi=1.1), "xi=1.1 cannot be used: give a finite number >= 0 and <= 1"),
        (
            lambda: Line(condition="wolfe"),
            "condition='wolfe' cannot be used: choose one of 'decrease', 'armijo', 'nonmonotone'",
        ),
        (
            lambda: Line(relative_tolerance=-1),
            "relative_tolerance=-1 cannot be used: give a finite number >= 0 and < 1",
        ),
    ],
)
def test_bad_settings(graph, make, message):
    with pytest.raises(UsageError) as error:
        make()
    assert str(error.value) == message
