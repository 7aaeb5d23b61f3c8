"""The case `loop`: what our training loop costs, against a bare loop over `session.run`."""

import contextlib

from benchmarks import report, small_models, timing

STEPS = {"softmax": 300, "mlp": 200, "cnn": 20}
_TARGETS = {
    ("softmax", 1): 1.15,
    ("cnn", 1): 1.02,
    ("softmax", 100): 0.5,
    ("mlp", 100): 0.7,
}


def measure(*, batch_size, repeats, models=tuple(STEPS), searched=(False, True), steps=None):
    """Times the loops.

    Args:
      batch_size: images in a batch.
      repeats: how often each is timed.
      models: which of `small_models.LOGITS`.
      searched: whether without the line search, with it, or both.
      steps: how many steps are timed at a time; None for `STEPS`.

    Returns:
      A list of figures.
    """
    figures = []
    with small_models.quiet_log():
        for model in models:
            for search in searched:
                figures += _measure(model, search, batch_size, repeats, steps or STEPS[model])
    return figures


def _measure(model, searched, batch_size, repeats, steps):
    arguments = {"batch_size": batch_size, "searched": searched}
    with contextlib.ExitStack() as stack:
        loops = {"bare": small_models.bare_loop(stack, model, **arguments)}
        for steps_per_run in (1, 100):
            loops[steps_per_run] = small_models.our_loop(
                stack, model, steps_per_run=steps_per_run, **arguments
            )
        runs = {name: lambda run=run: run(steps) for name, run in loops.items()}
        seconds = timing.paired(runs, repeats=repeats)
    name = f"{model}{', searched' if searched else ''}"
    figures = [
        report.milliseconds(f"{name}: step of the bare loop", seconds, lambda t: t["bare"] / steps)
    ]
    for steps_per_run in (1, 100):
        target = {} if searched else {"at_most": _TARGETS.get((model, steps_per_run))}
        figures.append(
            report.ratio(
                f"{name}: steps_per_run={steps_per_run} / bare",
                seconds,
                lambda t, key=steps_per_run: t[key] / t["bare"],
                **target,
            )
        )
    return figures
