"""What an error says, short enough for a line of a log."""

import re

_LONGEST = 300
# TensorFlow tells at length where an op was made, and names it around what went wrong.
_AROUND = re.compile(
    r"Graph execution error:|Detected at node .*?Node: '[^']*'"
    r"|\[\[\{\{node.*|Original stack trace.*",
    re.DOTALL,
)


def in_one_line(error):
    """Returns what went wrong, without where its op was made.

    Args:
      error: an exception, a `tf.errors.OpError` or any other.

    Returns:
      str, at most 300 characters.

    Example:
      >>> in_one_line(tf.errors.DataLossError(None, None, "Graph execution error:\\n\\ntorn"))
      'torn'
    """
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    return " ".join(_AROUND.sub(" ", message).split())[:_LONGEST]
