"""Measures how fast graphtrain is, and what its line search gains."""

import os

import _quiet  # noqa: F401
from absl import flags
from benchmarks import (
    cluster,
    estimator,
    growth,
    learning,
    line_search,
    loop,
    peers,
    prediction,
    process_memory,
    report,
    settings,
    start,
    step,
)

from graphtrain import app
from graphtrain.errors import UsageError

SPEED = {
    "step": step.measure,
    "line_search": line_search.measure,
    "loop": loop.measure,
    "estimator": estimator.measure,
    "peers": peers.measure,
    "settings": settings.measure,
    "growth": growth.measure,
    "predict": prediction.measure,
    "start": start.measure,
    "memory": process_memory.measure,
    "cluster": cluster.measure,
}
LEARNING = "learning"


def define_flags(flag_values=flags.FLAGS):
    flags.DEFINE_enum(
        "case", None, [*SPEED, LEARNING], "what to measure", flag_values, required=True
    )
    flags.DEFINE_integer("batch_size", 32, "images in one batch", 1, flag_values=flag_values)
    flags.DEFINE_integer(
        "repeats", 50, "step, line_search: how often each is timed", 1, flag_values=flag_values
    )
    flags.DEFINE_string("csv", None, "the file to write to, or to go on with", flag_values)
    learning.define_flags(flag_values)
    peers.define_flags(flag_values)


def main(values):
    for name in ("csv", "picture"):
        _check_folder_of(name, values[name].value)
    if values.case == LEARNING:
        learning.run(values)
        return
    arguments = {}
    if values.case == "peers":
        arguments["estimator_python"] = values.estimator_python
    figures = SPEED[values.case](batch_size=values.batch_size, repeats=values.repeats, **arguments)
    report.print_table(figures)
    if values.csv is not None:
        report.write_csv(figures, values.csv)


def _check_folder_of(name, path):
    # An hour of measuring should not end with this.
    if path is not None and not os.path.isdir(os.path.dirname(path) or "."):
        raise UsageError(f"{name}={path!r} cannot be written: there is no such folder, make it")


if __name__ == "__main__":
    define_flags()
    app.run(main)
