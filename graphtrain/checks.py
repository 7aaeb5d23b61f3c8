"""Checks of the values that a user gives: each returns the value or says what is allowed."""

import math
import numbers
import operator

from graphtrain.errors import UsageError


def real(name, value, *, above=None, at_least=None, below=None, at_most=None):
    """Checks that a value is a finite number within bounds.

    Args:
      name: what the user calls the value, for the message.
      value: the value to check.
      above: the value must be greater than this.
      at_least: the value must be this or greater.
      below: the value must be less than this.
      at_most: the value must be this or less.

    Returns:
      The value as a Python float.

    Raises:
      UsageError: it is not a number, not finite, or out of bounds.

    Example:
      >>> real("momentum", 0.9, at_least=0, below=1)
      0.9
    """
    bounds = [
        (">", above, operator.gt),
        (">=", at_least, operator.ge),
        ("<", below, operator.lt),
        ("<=", at_most, operator.le),
    ]
    bounds = [bound for bound in bounds if bound[1] is not None]
    if _is_finite_number(value) and all(holds(value, limit) for _, limit, holds in bounds):
        return float(value)
    wanted = " and ".join(f"{sign} {limit}" for sign, limit, _ in bounds)
    raise UsageError(f"{name}={value!r} cannot be used: give a finite number {wanted}".rstrip())


def whole(name, value, *, at_least=1):
    """Checks that a value is a whole number, such as a number of steps.

    Args:
      name: what the user calls the value, for the message.
      value: the value to check; a float such as 1e4 will do if it is whole.
      at_least: the least value allowed.

    Returns:
      The value as a Python int.

    Raises:
      UsageError: it is not a whole number, or too small.

    Example:
      >>> whole("decay_steps", 1e4)
      10000
    """
    if _is_finite_number(value) and value == int(value) and value >= at_least:
        return int(value)
    raise UsageError(f"{name}={value!r} cannot be used: give a whole number >= {at_least}")


def one_of(name, value, allowed):
    """Checks that a value is one of the names allowed.

    Args:
      name: what the user calls the value, for the message.
      value: the value to check.
      allowed: the values allowed, in the order to be shown.

    Returns:
      The value.

    Raises:
      UsageError: it is none of them.

    Example:
      >>> one_of("train_step", "normal", ["normal", "line_search"])
      'normal'
    """
    if value not in list(allowed):
        choices = ", ".join(repr(choice) for choice in allowed)
        raise UsageError(f"{name}={value!r} cannot be used: choose one of {choices}")
    return value


def _is_finite_number(value):
    # bool is a number to Python, but True steps are a mistake.
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
