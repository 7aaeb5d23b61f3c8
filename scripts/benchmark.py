"""Measures what the line search costs, and what it gains."""

import os

import _quiet  # noqa: F401
from absl import flags
from benchmarks import line_search, report, step

from graphtrain import app
from graphtrain.errors import UsageError

CASES = {"step": step.measure, "line_search": line_search.measure}


def define_flags(flag_values=flags.FLAGS):
    flags.DEFINE_enum("case", None, list(CASES), "what to measure", flag_values, required=True)
    flags.DEFINE_integer(
        "batch_size", 32, "images in one batch", lower_bound=1, flag_values=flag_values
    )
    flags.DEFINE_integer(
        "repeats", 50, "how often each step is timed", lower_bound=1, flag_values=flag_values
    )
    flags.DEFINE_string("csv", None, "the file to write the figures to", flag_values)


def main(values):
    _check_folder_of("csv", values.csv)
    figures = CASES[values.case](batch_size=values.batch_size, repeats=values.repeats)
    report.print_table(figures)
    if values.csv is not None:
        report.write_csv(figures, values.csv)


def _check_folder_of(name, path):
    # Hours of measuring should not end with this.
    if path is not None and not os.path.isdir(os.path.dirname(path) or "."):
        raise UsageError(f"{name}={path!r} cannot be written: there is no such folder, make it")


if __name__ == "__main__":
    define_flags()
    app.run(main)
