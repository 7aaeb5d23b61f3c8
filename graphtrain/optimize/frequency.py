"""At which steps the line search is made; the others take the scale accepted last."""

import dataclasses

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError


@dataclasses.dataclass(frozen=True)
class EveryStep:
    """Searches at each step."""

    def initial_state(self):
        """Returns the first values of what is remembered from step to step: nothing."""
        return {}

    def is_due(self, state):
        """Returns whether this step is searched, bool scalar tensor."""
        del state
        return tf.constant(True)

    def after_step(self, searched, scale, state):
        """Returns what to remember after a step: nothing."""
        del searched, scale, state
        return {}


@dataclasses.dataclass(frozen=True)
class EveryN:
    """Searches at the first step and then at every n-th.

    Args:
      n: the number of steps from one search to the next.

    Raises:
      UsageError: n is no whole number of at least 1.

    Example:
      >>> EveryN(10).initial_state()
      {'steps_to_search': 0.0}
    """

    n: int

    def __post_init__(self):
        checks.whole("search_every", self.n)

    def initial_state(self):
        """Returns the first values of what is remembered from step to step."""
        return {"steps_to_search": 0.0}

    def is_due(self, state):
        """Returns whether this step is searched, bool scalar tensor."""
        return state["steps_to_search"] < 0.5

    def after_step(self, searched, scale, state):
        """Returns what to remember after a step."""
        del scale
        left = state["steps_to_search"] - 1
        return {"steps_to_search": tf.where(searched, tf.constant(self.n - 1.0, left.dtype), left)}


@dataclasses.dataclass(frozen=True)
class Adaptive:
    """Searches often while the accepted scales change, and seldom while they do not.

    Of the accepted scales two exponential means are kept, with factors 0.9 and 0.99. With r their
    ratio, or its inverse if that is greater, the next search is after floor(1 / (r - 1)) steps, at
    least 1 and at most `max_steps`.

    Source: P. Kenneweg and others, No learning rates needed, 2024 (SaLSA).

    Args:
      max_steps: the most steps from one search to the next.

    Raises:
      UsageError: max_steps is no whole number of at least 1.

    Example:
      >>> Adaptive(max_steps=20)
      Adaptive(max_steps=20)
    """

    max_steps: int = 10

    def __post_init__(self):
        checks.whole("max_steps", self.max_steps)

    def initial_state(self):
        """Returns the first values of what is remembered from step to step."""
        return {"steps_to_search": 0.0, "fast_scale": 1.0, "slow_scale": 1.0}

    def is_due(self, state):
        """Returns whether this step is searched, bool scalar tensor."""
        return state["steps_to_search"] < 0.5

    def after_step(self, searched, scale, state):
        """Returns what to remember after a step."""
        counted = searched & (scale > 0)
        fast = tf.where(counted, 0.9 * state["fast_scale"] + 0.1 * scale, state["fast_scale"])
        slow = tf.where(counted, 0.99 * state["slow_scale"] + 0.01 * scale, state["slow_scale"])
        change = tf.maximum(fast / slow, slow / fast) - 1
        pause = tf.clip_by_value(tf.floor(1 / tf.maximum(change, 1e-6)), 1, self.max_steps)
        left = tf.where(searched, pause, state["steps_to_search"]) - 1
        return {"steps_to_search": left, "fast_scale": fast, "slow_scale": slow}


def from_argument(search_every):
    """Returns the policy for the argument `search_every`: a number, "adaptive" or a policy."""
    if isinstance(search_every, EveryN | Adaptive):
        return search_every
    if search_every == "adaptive":
        return Adaptive()
    if isinstance(search_every, str):
        raise UsageError(
            f"search_every={search_every!r} cannot be used: give a whole number or 'adaptive'"
        )
    n = checks.whole("search_every", search_every)
    return EveryStep() if n == 1 else EveryN(n)
