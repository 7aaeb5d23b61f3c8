"""Which part of the step the line search tries first."""

import dataclasses

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError


@dataclasses.dataclass(frozen=True)
class Constant:
    """Begins each step anew with the whole step: s = 1."""

    def initial_state(self):
        """Returns the first values of what is remembered from step to step: nothing."""
        return {}

    def scale(self, loss, slope, state):
        """Returns the first scale to try, float scalar tensor."""
        del slope, state
        return tf.ones_like(loss)

    def after_search(self, outcome, state):
        """Returns what to remember after a search: nothing."""
        del outcome, state
        return {}


@dataclasses.dataclass(frozen=True)
class Grow:
    """Begins with the scale accepted last, times a factor: s = min(last * factor, max_scale).

    After a failed search the last scale stays what it was. The first scale is never below
    `min_first_scale`, so that a run of bad batches cannot shrink the steps to nothing: from there
    it takes log(1 / min_first_scale) / log(factor) accepted steps to be back at 1.

    Source: S. Vaswani and others, Painless stochastic gradient, 2019, whose factor is 2 for each
    epoch: `Grow(2.0, steps_per_factor=steps_per_epoch)` multiplies by 2^(1/steps_per_epoch).

    Args:
      factor: the factor, at least 1.
      steps_per_factor: how many steps it takes for the scale to grow by the factor.
      max_scale: the largest scale, > 0.
      min_first_scale: the least first scale, in (0, max_scale].

    Raises:
      UsageError: an argument is out of range.

    Example:
      >>> round(Grow(2.0, steps_per_factor=100).per_step, 5)
      1.00696
    """

    factor: float = 1.3
    steps_per_factor: int = 1
    max_scale: float = 10.0
    min_first_scale: float = 1e-3

    def __post_init__(self):
        checks.real("factor", self.factor, at_least=1)
        checks.whole("steps_per_factor", self.steps_per_factor)
        checks.real("max_scale", self.max_scale, above=0)
        checks.real("min_first_scale", self.min_first_scale, above=0, at_most=self.max_scale)

    @property
    def per_step(self):
        """The factor of one step."""
        return self.factor ** (1 / self.steps_per_factor)

    def initial_state(self):
        """Returns the first values of what is remembered from step to step."""
        return {"first_scale": min(1.0, self.max_scale)}

    def scale(self, loss, slope, state):
        """Returns the first scale to try, float scalar tensor."""
        del loss, slope
        return state["first_scale"]

    def after_search(self, outcome, state):
        """Returns what to remember after a search."""
        grown = tf.clip_by_value(
            outcome.scale * self.per_step, self.min_first_scale, self.max_scale
        )
        return {"first_scale": tf.where(outcome.accepted, grown, state["first_scale"])}


@dataclasses.dataclass(frozen=True)
class Polyak:
    """Begins where the loss would be at its least value if it fell along its tangent.

    s = (f(0) - least_loss) / (c * -<g, d>), at most max_scale; for gradient descent the rate is
    (f - f*) / (c |g|^2). The trials that a search rejected are remembered, and later searches
    begin that much lower: s * shrink^l with l = max(l + rejected - 1, 0).

    Source: L. Galli and others, Don't be so monotone, 2023 (PoNoS), with c = 0.1.

    Args:
      c: divides the scale, > 0.
      max_scale: the largest scale, > 0.
      least_loss: the least value that the loss can have, a finite number.
      shrink: the factor for each trial remembered, in (0, 1).

    Raises:
      UsageError: an argument is out of range.

    Example:
      >>> Polyak(max_scale=10.0).c
      0.1
    """

    c: float = 0.1
    max_scale: float = 10.0
    least_loss: float = 0.0
    shrink: float = 0.5

    def __post_init__(self):
        checks.real("c", self.c, above=0)
        checks.real("max_scale", self.max_scale, above=0)
        checks.real("least_loss", self.least_loss)
        checks.real("shrink", self.shrink, above=0, below=1)

    def initial_state(self):
        """Returns the first values of what is remembered from step to step."""
        return {"remembered_trials": 0.0}

    def scale(self, loss, slope, state):
        """Returns the first scale to try, float scalar tensor."""
        to_fall = tf.maximum(loss - self.least_loss, 0)
        # A step that leads uphill has no tangent to follow down.
        scale = tf.where(slope < 0, to_fall / (-self.c * slope), tf.ones_like(loss))
        return tf.minimum(scale, self.max_scale) * self.shrink ** state["remembered_trials"]

    def after_search(self, outcome, state):
        """Returns what to remember after a search."""
        rejected = tf.cast(outcome.trials, outcome.scale.dtype) - 1
        return {"remembered_trials": tf.maximum(state["remembered_trials"] + rejected - 1, 0)}


FIRST_SCALES = {"constant": Constant(), "grow": Grow(), "polyak": Polyak()}


def with_shrink(first_scale, shrink):
    """Returns the policy called `first_scale`, or the object itself; Polyak with this shrink."""
    if first_scale == "polyak":
        return Polyak(shrink=shrink)
    if isinstance(first_scale, str):
        return FIRST_SCALES[checks.one_of("first_scale", first_scale, tuple(FIRST_SCALES))]
    if not isinstance(first_scale, Constant | Grow | Polyak):
        raise UsageError(
            f"first_scale={first_scale!r} cannot be used: give one of {tuple(FIRST_SCALES)}, or a "
            "Grow or Polyak object"
        )
    return first_scale
