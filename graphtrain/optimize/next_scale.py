"""Which scale the line search tries after one that was rejected."""

import dataclasses

import tensorflow as tf

from graphtrain import checks

INTERPOLATIONS = (None, "quadratic", "cubic")

# A guess is kept within these parts of the rejected scale: near either end it would be no news.
_LEAST_PART, _GREATEST_PART = 0.1, 0.5


@dataclasses.dataclass(frozen=True)
class NextScale:
    """Goes from a rejected scale to a smaller one.

    Without interpolation the next scale is s * shrink. With "quadratic" it is the least point of
    the parabola through f(0), its slope and f(s); with "cubic", from the third trial on, that of
    the cubic through the trial before as well. A guess is kept in [0.1 s, 0.5 s]; where a loss is
    not finite, or the slope not negative, it is s * shrink.

    Source: J. Nocedal and S. Wright, Numerical optimization, 2nd edition, section 3.5.

    Args:
      shrink: the factor without interpolation, in (0, 1).
      interpolation: None, "quadratic" or "cubic".

    Raises:
      UsageError: an argument cannot be used.

    Example:
      >>> NextScale(0.5, "cubic")
      NextScale(shrink=0.5, interpolation='cubic')
    """

    shrink: float
    interpolation: str | None = None

    def __post_init__(self):
        checks.real("shrink", self.shrink, above=0, below=1)
        checks.one_of("interpolation", self.interpolation, INTERPOLATIONS)

    def after(self, rejected, earlier, loss_before, slope):
        """Returns the scale to try next, float scalar tensor.

        Args:
          rejected: (scale, loss) of the trial just rejected, float scalar tensors.
          earlier: (scale, loss) of the trial before it; the scale is 0 if there was none.
          loss_before: the loss before the step, float scalar tensor.
          slope: the derivative of the loss along the step there, float scalar tensor.
        """
        scale, loss = rejected
        shrunk = scale * self.shrink
        if self.interpolation is None:
            return shrunk
        guess = -slope * scale**2 / (2 * (loss - loss_before - slope * scale))
        known = tf.math.is_finite(loss) & (slope < 0)
        if self.interpolation == "cubic":
            cubic = _cubic_minimum(rejected, earlier, loss_before, slope)
            guess = tf.where((earlier[0] > 0) & tf.math.is_finite(cubic), cubic, guess)
        guess = tf.clip_by_value(guess, _LEAST_PART * scale, _GREATEST_PART * scale)
        return tf.where(known & tf.math.is_finite(guess), guess, shrunk)


def _cubic_minimum(rejected, earlier, loss_before, slope):
    (s1, f1), (s0, f0) = rejected, earlier
    above1 = f1 - loss_before - slope * s1
    above0 = f0 - loss_before - slope * s0
    divisor = s0**2 * s1**2 * (s1 - s0)
    a = (s0**2 * above1 - s1**2 * above0) / divisor
    b = (s1**3 * above0 - s0**3 * above1) / divisor
    root = tf.sqrt(b**2 - 3 * a * slope)
    # Equal, but for rounding: where the loss is nearly a parabola, a is next to nothing.
    return tf.where(b > 0, -slope / (b + root), (root - b) / (3 * a))
