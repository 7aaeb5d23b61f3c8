"""The case `cluster`: what a step costs when several processes on this machine share it."""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np

from benchmarks import report
from graphtrain.distribute.local_cluster import LocalProcesses, tf_configs
from graphtrain.errors import UsageError

WEIGHTS = (100_000, 1_000_000, 10_000_000)
WORKERS = 2
SHAPES = {
    "one process": {"workers": 1},
    f"{WORKERS} workers in step": {"workers": WORKERS},
    f"1 ps, {WORKERS} workers": {"workers": WORKERS, "ps": 1},
}


def measure(*, batch_size, repeats, weights=WEIGHTS, searches=(False, True)):
    """Times the steps of one process, and of clusters on the loopback device.

    All share the batch: each of N workers has 1 / N of it. A step of parameter servers is one of
    one worker, so N of them are made in the time of one.

    Args:
      batch_size: examples in a batch, of all workers together.
      repeats: how many steps are timed.
      weights: the sizes of the model, in weights.
      searches: of False and True, whether the steps are searched.

    Returns:
      A list of figures.

    Raises:
      UsageError: the machine does not tell what goes over its loopback device.
    """
    if not os.path.exists("/proc/net/dev"):
        raise UsageError("case=cluster reads /proc/net/dev, which only Linux has")
    figures = []
    for count in weights:
        found = {}
        for searched in searches:
            for name, shape in SHAPES.items():
                if not (searched and "ps" in shape):
                    params = {"weights": count, "searched": searched}
                    params |= {"batch_size": batch_size, "steps": repeats}
                    found[name, searched] = _run(shape, params)
        figures += _figures(count, found)
    return figures


def _run(shape, params):
    """What each worker of a cluster found, a list of dicts."""
    program = pathlib.Path(__file__).parent / "cluster_worker.py"
    lines = []
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, str(program), directory, json.dumps(params)]
        code = LocalProcesses(command, tf_configs(**shape), write=lines.append).run()
    found = [json.loads(line.partition("FOUND ")[2]) for line in lines if "FOUND " in line]
    if code != 0 or not found:
        raise UsageError(f"a process of the cluster failed: {' / '.join(lines[-5:])}")
    return found


def _figures(count, found):
    figures = []
    alone = {
        searched: _median_ms(workers)
        for (name, searched), workers in found.items()
        if name == "one process"
    }
    for (name, searched), workers in found.items():
        label = f"{count:,} weights, {name}{', searched' if searched else ''}"
        median = _median_ms(workers)
        figures.append(_figure(f"{label}: step", "ms", median))
        if name == "one process":
            continue
        figures.append(_figure(f"{label}: step / one process", "ratio", median / alone[searched]))
        if workers[0]["collectives"]:
            figures.append(
                _figure(f"{label}: sums over the workers", "a step", workers[0]["collectives"])
            )
        sent = float(np.mean([worker["bytes"] for worker in workers]))
        # In a ring each of N workers sends 2 (N - 1) / N of the gradient, and the device carries
        # what all send. With a ps a step is one worker's: the weights come, the gradient goes.
        least = 4 * count * (2 if "ps" in name else 2 * (WORKERS - 1))
        figures.append(_figure(f"{label}: bytes of a step", "MB", sent / 1e6))
        figures.append(_figure(f"{label}: bytes / least", "ratio", sent / least))
    return figures


def _median_ms(workers):
    return 1000 * float(np.median(np.concatenate([worker["secs"] for worker in workers])))


def _figure(measure, unit, value):
    return report.Figure(measure, unit, float(value), float(value))
