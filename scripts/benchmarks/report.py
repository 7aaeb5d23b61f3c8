"""What a benchmark found: figures, their table and their file."""

import csv
import dataclasses

import numpy as np

_HEADER = ("measure", "unit", "median", "quiet", "target", "reached")


@dataclasses.dataclass(frozen=True)
class Figure:
    """One thing measured, time and again.

    Args:
      measure: what it is.
      unit: "ms", "ratio", "images/s" and so on.
      median: the median over the turns.
      quiet: what it would be had every turn been as undisturbed as the best one.
      at_most: the greatest median that is good enough, or None.
      at_least: the least median that is good enough, or None.
    """

    measure: str
    unit: str
    median: float
    quiet: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def row(self):
        """The figure as text, one for each column of the table."""
        target, reached = "", ""
        if self.at_most is not None:
            target, reached = f"<= {self.at_most:g}", _yes_or_no(self.median <= self.at_most)
        elif self.at_least is not None:
            target, reached = f">= {self.at_least:g}", _yes_or_no(self.median >= self.at_least)
        return (
            self.measure,
            self.unit,
            f"{self.median:.3f}",
            f"{self.quiet:.3f}",
            target,
            reached,
        )


def milliseconds(measure, seconds, formula, **target):
    """Makes the figure of a time.

    Args:
      measure: what it is.
      seconds: dict of name to float [repeats], as `timing.paired` returns it.
      formula: a function of such a dict that returns seconds.
      **target: `at_most` or `at_least`, in milliseconds.
    """
    return _figure(measure, "ms", seconds, lambda times: 1000 * formula(times), target)


def ratio(measure, seconds, formula, **target):
    """Makes the figure of a time over another one of the same turn.

    Args:
      measure: what it is.
      seconds: dict of name to float [repeats], as `timing.paired` returns it.
      formula: a function of such a dict that returns the ratio.
      **target: `at_most` or `at_least`.
    """
    return _figure(measure, "ratio", seconds, formula, target)


def print_table(figures):
    """Prints figures, aligned."""
    rows = [_HEADER, *(figure.row for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        cells += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        print("  ".join(cells).rstrip())


def write_csv(figures, path):
    """Writes figures to a file, a line each."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([_HEADER, *(figure.row for figure in figures)])


def _figure(measure, unit, seconds, formula, target):
    least = {name: values.min() for name, values in seconds.items()}
    median = float(np.median(formula(seconds)))
    return Figure(measure, unit, median, float(formula(least)), **target)


def _yes_or_no(reached):
    return "yes" if reached else "no"
