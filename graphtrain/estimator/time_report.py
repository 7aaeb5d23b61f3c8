"""What the time of a training went to."""


def spent(watch, before, in_graph):
    """Returns a dict of seconds by what they were spent on.

    Args:
      watch: `Stopwatch`.
      before: what its `secs` were when the training began.
      in_graph: dict of seconds that the graph measured in its steps.
    """
    secs = {what: total - before.get(what, 0.0) for what, total in watch.secs.items()}
    secs["steps"] = max(secs["steps"] - sum(in_graph.values()), 0.0)
    return {**secs, **in_graph}


def lines(secs):
    """Returns the lines of a table of seconds, the greatest first.

    Args:
      secs: dict of what to seconds, as `TrainResult.secs` is.

    Example:
      >>> print(*lines({"start": 1.0, "steps": 3.0}), sep="\\n")
      steps               3.0 s   75 %
      start               1.0 s   25 %
    """
    whole = max(sum(secs.values()), 1e-9)
    ordered = sorted(secs.items(), key=lambda item: -item[1])
    return [f"{what:16} {value:6.1f} s {100 * value / whole:4.0f} %" for what, value in ordered]
