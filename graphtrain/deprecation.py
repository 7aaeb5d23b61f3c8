"""Old spellings that are kept, and say so when they are used."""

import functools

import tensorflow as tf

tf1 = tf.compat.v1


def renamed_to(new_name):
    """Makes a decorator of a function or method whose name has a successor.

    Args:
      new_name: str, what to call instead.

    Returns:
      A decorator: each call logs a warning, then goes through.

    Example:
      >>> @renamed_to("total")
      ... def sum_up(values):
      ...     return sum(values)
      >>> sum_up([1, 2])
      3
    """

    def decorate(function):
        @functools.wraps(function)
        def deprecated(*args, **kwargs):
            tf1.logging.warning("%s is deprecated: use %s", function.__name__, new_name)
            return function(*args, **kwargs)

        return deprecated

    return decorate
