"""Learning rates as functions of the global step.

Each function here checks its values and returns a schedule: a function that takes the
global step tensor and gives the learning rate, a float32 scalar tensor. A schedule holds
no state. The rate follows from the base rate and the (saved, restored) global step alone,
so that a resumed run goes on with the rate it would have had.

Example:
>>> schedule = exponential(0.1, decay_steps=10, decay_rate=0.5)
>>> with tf1.Session() as session:
...     rates = session.run([schedule(step) for step in (0, 10, 20)])
>>> [f"{rate:.3f}" for rate in rates]
['0.100', '0.050', '0.025']
"""

import itertools

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError

tf1 = tf.compat.v1


def constant(learning_rate):
    """Makes a schedule that is the same at each step.

    Args:
      learning_rate: the rate, > 0.

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    Raises:
      UsageError: the rate makes no sense.

    Example:
      >>> with tf1.Session() as session:
      ...     print(f"{session.run(constant(0.5)(7)):.1f}")
      0.5
    """
    base = _base_rate(learning_rate)
    return lambda global_step: tf.constant(base, tf.float32)


def exponential(learning_rate, *, decay_steps, decay_rate, staircase=False):
    """Makes a schedule that is multiplied by `decay_rate` every `decay_steps` steps.

    rate(step) = learning_rate * decay_rate ** (step / decay_steps), with the exponent
    rounded down if `staircase`: `tf.compat.v1.train.exponential_decay`.

    Args:
      learning_rate: the rate at step 0, > 0.
      decay_steps: steps (not epochs, not examples), a whole number >= 1.
      decay_rate: the factor, > 0 and <= 1.
      staircase: whether the rate falls in jumps rather than a little at each step.

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> schedule = exponential(0.1, decay_steps=10, decay_rate=0.5, staircase=True)
      >>> with tf1.Session() as session:
      ...     print(f"{session.run(schedule(19)):.2f}")
      0.05
    """
    base = _base_rate(learning_rate)
    steps = checks.whole("decay_steps", decay_steps)
    factor = checks.real("decay_rate", decay_rate, above=0, at_most=1)
    return lambda global_step: tf1.train.exponential_decay(
        base, _step(global_step), steps, factor, staircase=staircase
    )


def piecewise(boundaries, learning_rates):
    """Makes a schedule that is constant between boundaries.

    The first rate holds up to and including the step `boundaries[0]`, and so on:
    `tf.compat.v1.train.piecewise_constant`.

    Args:
      boundaries: steps at which the rate changes, whole numbers >= 0, each greater than
        the one before.
      learning_rates: the rates, each > 0, one more than there are boundaries.

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> schedule = piecewise([100, 200], [0.1, 0.01, 0.001])
      >>> with tf1.Session() as session:
      ...     print(f"{session.run(schedule(150)):.2f}")
      0.01
    """
    steps = [checks.whole("boundaries", step, at_least=0) for step in boundaries]
    rates = [_base_rate(rate, "learning_rates") for rate in learning_rates]
    if not steps or any(after <= before for before, after in itertools.pairwise(steps)):
        raise UsageError(
            f"boundaries={list(boundaries)!r} cannot be used: give one step or more, each "
            "greater than the one before"
        )
    if len(rates) != len(steps) + 1:
        raise UsageError(
            f"learning_rates={list(learning_rates)!r} cannot be used with {len(steps)} "
            f"boundaries: give {len(steps) + 1} rates, one more than boundaries"
        )
    return lambda global_step: tf1.train.piecewise_constant(_step(global_step), steps, rates)


def polynomial(learning_rate, *, decay_steps, end_learning_rate=1e-4, power=1.0, cycle=False):
    """Makes a schedule that falls to `end_learning_rate` at `decay_steps`, and stays there.

    rate(step) = (learning_rate - end) * (1 - min(step, decay_steps) / decay_steps) ** power
    + end: `tf.compat.v1.train.polynomial_decay`. It is a straight line at power 1.

    Args:
      learning_rate: the rate at step 0, > 0.
      decay_steps: steps (not epochs, not examples), a whole number >= 1.
      end_learning_rate: the rate at the end, >= 0 and not above `learning_rate`.
      power: the exponent, > 0.
      cycle: whether, past `decay_steps`, the decay is stretched to the next multiple of
        `decay_steps`, so that the rate jumps up and falls again.

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> schedule = polynomial(0.5, decay_steps=100, end_learning_rate=0.1)
      >>> with tf1.Session() as session:
      ...     print(f"{session.run(schedule(50)):.1f}")
      0.3
    """
    base = _base_rate(learning_rate)
    steps = checks.whole("decay_steps", decay_steps)
    end = checks.real("end_learning_rate", end_learning_rate, at_least=0, at_most=base)
    exponent = checks.real("power", power, above=0)
    return lambda global_step: tf1.train.polynomial_decay(
        base, _step(global_step), steps, end, power=exponent, cycle=cycle
    )


def inverse_time(learning_rate, *, decay_steps, decay_rate, staircase=False):
    """Makes a schedule that falls as one over time.

    rate(step) = learning_rate / (1 + decay_rate * step / decay_steps), with the quotient
    rounded down if `staircase`: `tf.compat.v1.train.inverse_time_decay`.

    Args:
      learning_rate: the rate at step 0, > 0.
      decay_steps: steps (not epochs, not examples), a whole number >= 1.
      decay_rate: how fast it falls, > 0; it may be above 1.
      staircase: whether the rate falls in jumps rather than a little at each step.

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> schedule = inverse_time(0.9, decay_steps=10, decay_rate=2.0)
      >>> with tf1.Session() as session:
      ...     print(f"{session.run(schedule(10)):.1f}")
      0.3
    """
    base = _base_rate(learning_rate)
    steps = checks.whole("decay_steps", decay_steps)
    speed = checks.real("decay_rate", decay_rate, above=0)
    return lambda global_step: tf1.train.inverse_time_decay(
        base, _step(global_step), steps, speed, staircase=staircase
    )


def cosine(learning_rate, *, decay_steps, alpha=0.0):
    """Makes a schedule that falls along half a cosine, and stays at its end.

    rate(step) = learning_rate * ((1 - alpha) * (1 + cos(pi * t)) / 2 + alpha), with
    t = min(step, decay_steps) / decay_steps: `tf.compat.v1.train.cosine_decay`. See
    Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017.

    Args:
      learning_rate: the rate at step 0, > 0.
      decay_steps: steps (not epochs, not examples), a whole number >= 1.
      alpha: the rate at the end as a fraction of `learning_rate`, in [0, 1].

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> with tf1.Session() as session:
      ...     print(f"{session.run(cosine(0.5, decay_steps=100)(50)):.2f}")
      0.25
    """
    base = _base_rate(learning_rate)
    steps = checks.whole("decay_steps", decay_steps)
    end_fraction = checks.real("alpha", alpha, at_least=0, at_most=1)
    return lambda global_step: tf1.train.cosine_decay(
        base, _step(global_step), steps, alpha=end_fraction
    )


def linear_warmup(schedule, *, warmup_steps):
    """Makes a schedule whose first steps rise in a straight line to another schedule.

    rate(step) = schedule(step) * min(1, (step + 1) / warmup_steps). It is never 0, so the
    first step trains too; from step `warmup_steps` - 1 on it is the other schedule.

    Args:
      schedule: the schedule to rise to, as the functions of this module return it.
      warmup_steps: how many steps the rise takes, a whole number >= 1.

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> schedule = linear_warmup(constant(0.5), warmup_steps=5)
      >>> with tf1.Session() as session:
      ...     print(f"{session.run(schedule(0)):.1f}")
      0.1
    """
    if not callable(schedule):
        raise UsageError(
            f"schedule={schedule!r} cannot be used: give a schedule, such as "
            "schedules.constant(0.1)"
        )
    steps = checks.whole("warmup_steps", warmup_steps)

    def warmed_up(global_step):
        risen = tf.cast(_step(global_step) + 1, tf.float32) / steps
        return schedule(global_step) * tf.minimum(1.0, risen)

    return warmed_up


def _base_rate(value, name="learning_rate"):
    return checks.real(name, value, above=0)


def _step(global_step):
    # One dtype for all: piecewise_constant compares the step with int64 boundaries.
    return tf.cast(global_step, tf.int64)
