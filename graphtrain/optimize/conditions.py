"""When a trial of the line search is good enough.

Each condition accepts a trial at scale s if its loss f(s) <= reference + c * s * slope, where the
slope is <gradient, step>, the derivative of the loss along the step at s = 0, or 0 if that is
positive. They differ in the reference and in c.
"""

import dataclasses

import tensorflow as tf

from graphtrain import checks


class _AgainstLossBefore:
    """Holds trials against the loss before the step, and remembers nothing."""

    def initial_state(self):
        """Returns the first values of what is remembered from step to step: nothing."""
        return {}

    def reference(self, loss_before, state):
        """Returns what a trial's loss is held against, and what to remember, float scalars."""
        del state
        return loss_before, {}


@dataclasses.dataclass(frozen=True)
class Decrease(_AgainstLossBefore):
    """The loss fell: f(s) < f(0). The weakest condition, and the one of the source article."""

    rounding_errors_allowed = 0
    c = 0.0

    def accepts(self, loss, bound):
        """Returns whether a trial's loss is good enough, bool scalar tensor."""
        return loss < bound


@dataclasses.dataclass(frozen=True)
class Armijo(_AgainstLossBefore):
    """The loss fell by a part of what the slope promises: f(s) <= f(0) + c s <g, d>.

    Source: L. Armijo, Minimization of functions having Lipschitz continuous first partial
    derivatives, 1966; for single batches S. Vaswani and others, Painless stochastic gradient, 2019.

    Args:
      c: the part, in (0, 1).

    Raises:
      UsageError: c is out of range.

    Example:
      >>> Armijo(c=0.1).accepts(tf.constant(0.9), tf.constant(1.0 + 0.1 * 0.5 * -1.0)).dtype
      tf.bool
    """

    c: float = 0.1
    # Near a least point the promised fall is smaller than what rounding makes of the losses.
    rounding_errors_allowed = 2

    def __post_init__(self):
        checks.real("c", self.c, above=0, below=1)

    def accepts(self, loss, bound):
        """Returns whether a trial's loss is good enough, bool scalar tensor."""
        return loss <= bound


@dataclasses.dataclass(frozen=True)
class NonMonotone(Armijo):
    """Armijo's condition against a mean of past losses, so that the loss of a batch may rise.

    With q_0 = 0: q_k = xi q_{k-1} + 1, and C_k = (xi q_{k-1} C_{k-1} + f_k(0)) / q_k. A trial is
    accepted if f_k(s) <= max(C_k, f_k(0)) + c s <g, d>.

    Source: H. Zhang and W. Hager, A nonmonotone line search technique, 2004; its use for batches
    from L. Galli and others, Don't be so monotone, 2023 (PoNoS), who take c = 0.5 and xi = 1.

    Args:
      c: the part of the promised fall, in (0, 1).
      xi: how long the past counts, in [0, 1]; 0 is Armijo's condition, 1 the mean of all losses.

    Raises:
      UsageError: an argument is out of range.

    Example:
      >>> NonMonotone(xi=0.9)
      NonMonotone(c=0.5, xi=0.9)
    """

    c: float = 0.5
    xi: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        checks.real("xi", self.xi, at_least=0, at_most=1)

    def initial_state(self):
        """Returns the first values of what is remembered from step to step."""
        return {"loss_average": 0.0, "loss_weight": 0.0}

    def reference(self, loss_before, state):
        """Returns what a trial's loss is held against, and what to remember, float scalars."""
        past = self.xi * state["loss_weight"]
        weight = past + 1
        average = (past * state["loss_average"] + loss_before) / weight
        return tf.maximum(average, loss_before), {"loss_average": average, "loss_weight": weight}


CONDITIONS = {"decrease": Decrease(), "armijo": Armijo(), "nonmonotone": NonMonotone()}
