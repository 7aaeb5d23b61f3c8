"""The case `settings`: what the settings of a session do to the speed of the two models."""

import contextlib

from benchmarks import report, small_models, timing
from graphtrain.session.session_config import session_config

SETTINGS = {
    "defaults": {},
    "--intra_op_threads=1": {"intra_op_threads": 1},
    "--inter_op_threads=1": {"inter_op_threads": 1},
    "--xla": {"xla": True},
    "--bfloat16": {"bfloat16": True},
    "--nooptimize_graph": {"optimize_graph": False},
}
STEPS = {"mlp": 200, "cnn": 20}


def measure(*, batch_size, repeats, models=tuple(STEPS), steps=None):
    """Times training steps with each setting against the defaults.

    Args:
      batch_size: images in a batch.
      repeats: how often each is timed.
      models: which of `small_models.LOGITS`.
      steps: how many steps are timed at a time; None for `STEPS`.

    Returns:
      A list of figures.
    """
    figures = []
    with small_models.quiet_log():
        for model in models:
            figures += _measure(model, batch_size, repeats, steps or STEPS[model])
    return figures


def _measure(model, batch_size, repeats, steps):
    with contextlib.ExitStack() as stack:
        loops = {
            name: small_models.our_loop(
                stack,
                model,
                steps_per_run=1,
                batch_size=batch_size,
                searched=False,
                config=session_config(**settings),
            )
            for name, settings in SETTINGS.items()
        }
        runs = {name: lambda run=run: run(steps) for name, run in loops.items()}
        seconds = timing.paired(runs, repeats=repeats)
    return [
        report.milliseconds(f"{model}: step", seconds, lambda times: times["defaults"] / steps),
        *(
            report.ratio(
                f"{model}: {name} / defaults",
                seconds,
                lambda times, name=name: times[name] / times["defaults"],
            )
            for name in SETTINGS
            if name != "defaults"
        ),
    ]
