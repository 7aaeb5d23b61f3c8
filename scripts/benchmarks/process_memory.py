"""The case `memory`: the size of a process that trains the CNN, by our loop and by a bare one."""

import contextlib
import json
import os
import resource
import subprocess
import sys

import numpy as np

from benchmarks import report, small_models, timing

STEPS = 200
_AT_MOST = 1.05
LOOPS = {"bare": None, "steps_per_run=1": 1, "steps_per_run=100": 100}


def measure(*, batch_size, repeats, model="cnn", steps=STEPS, loops=tuple(LOOPS)):
    """Trains in a process of its own for each.

    Args:
      batch_size: images in a batch.
      repeats: how many processes of each.
      model: which of `small_models.LOGITS`.
      steps: how many steps each process makes.
      loops: which of `LOOPS`.

    Returns:
      A list of figures.
    """
    settings = {"model": model, "batch_size": batch_size, "steps": steps}
    measures = {
        name: lambda name=name: _in_a_process({**settings, "steps_per_run": LOOPS[name]})
        for name in loops
    }
    sizes = timing.in_turn(measures, repeats=repeats, warm_up_calls=0)
    figures = [
        report.Figure(
            f"{model}, {name}: greatest size", "MB", float(np.median(values)), values.min()
        )
        for name, values in sizes.items()
    ]
    for name in loops:
        if name != "bare":
            figures.append(
                report.ratio(
                    f"{model}, {name} / bare: greatest size",
                    sizes,
                    lambda t, name=name: t[name] / t["bare"],
                    at_most=_AT_MOST,
                )
            )
    return figures


def _in_a_process(settings):
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.process_memory", json.dumps(settings)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    return json.loads(answer)


def _trained(*, model, batch_size, steps, steps_per_run):
    """Trains in this process; returns its greatest size, in MB."""
    arguments = {"batch_size": batch_size, "searched": False}
    with small_models.quiet_log(), contextlib.ExitStack() as stack:
        if steps_per_run is None:
            run = small_models.bare_loop(stack, model, **arguments)
        else:
            run = small_models.our_loop(stack, model, steps_per_run=steps_per_run, **arguments)
        run(steps)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    print(json.dumps(_trained(**json.loads(sys.argv[1]))))
