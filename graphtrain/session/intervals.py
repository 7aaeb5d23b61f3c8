"""Intervals that a session may be given in steps or in seconds."""

from graphtrain.errors import UsageError

NOT_GIVEN = object()


def interval(name, steps, secs, *, default):
    """Returns an interval as arguments of a hook; an empty dict means never.

    Args:
      name: what the interval is called, without its unit.
      steps: int; None or 0 for none, `NOT_GIVEN` if the user gave nothing.
      secs: seconds; likewise.
      default: the dict to return if neither was given.

    Raises:
      UsageError: both are given.

    Example:
      >>> interval("save_checkpoint", 100, NOT_GIVEN, default={"save_secs": 600})
      {'save_steps': 100}
    """
    if steps is NOT_GIVEN and secs is NOT_GIVEN:
        return default
    steps, secs = (none_unless_positive(value) for value in (steps, secs))
    if steps and secs:
        raise UsageError(
            f"{name}_steps and {name}_secs cannot both be set, got {steps} steps and {secs} secs: "
            "give one of them."
        )
    if steps:
        return {"save_steps": steps}
    return {"save_secs": secs} if secs else {}


def none_unless_positive(value):
    """Returns a number of steps or seconds, or None if it means never."""
    return value if value not in (None, NOT_GIVEN) and value > 0 else None
