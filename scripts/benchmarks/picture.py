"""The picture of the case `learning`: tuned optimizers over their rates, searches as levels."""

import importlib.util

import numpy as np

from benchmarks import policies
from graphtrain.errors import UsageError

FIELDS = {"train_loss": "training loss", "test_accuracy": "test accuracy"}


def check_can_draw():
    """Raises a UsageError if there is nothing to draw with."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("--picture needs matplotlib: pip install 'graphtrain[plot]'")


def draw(shown, path):
    """Draws results.

    A column for each problem; training loss above, test accuracy below. A tuned optimizer is a
    line over its rates, a policy that needs no tuning a level line.

    Args:
      shown: list of `results.Result`.
      path: the file to write; its suffix is the kind of picture.
    """
    # Not needed by the other cases, and an extra.
    from matplotlib.figure import Figure

    problems = list(dict.fromkeys(result.problem for result in shown))
    figure = Figure(figsize=(4 * len(problems) + 2, 8), layout="constrained")
    axes = figure.subplots(len(FIELDS), len(problems), squeeze=False, sharex="col")
    for column, problem in enumerate(problems):
        of_problem = [result for result in shown if result.problem == problem]
        for row, field in enumerate(FIELDS):
            _draw_panel(axes[row, column], of_problem, field)
        data, model, images, _, budget_secs, _ = problem
        axes[0, column].set_title(f"{data}, {model}, {images} images, {budget_secs:g} s")
        axes[-1, column].set_xlabel("learning rate")
    for row, label in enumerate(FIELDS.values()):
        axes[row, 0].set_ylabel(label)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper")
    figure.savefig(path)


def _draw_panel(axes, of_problem, field):
    axes.set_xscale("log")
    if field == "train_loss":
        axes.set_yscale("log")
    for policy in dict.fromkeys(result.policy for result in of_problem):
        color = _color(policy)
        of_policy = [result for result in of_problem if result.policy == policy]
        rates = sorted({result.rate for result in of_policy})
        means = [
            np.mean([getattr(result, field) for result in of_policy if result.rate == rate])
            for rate in rates
        ]
        if rates == [""]:
            axes.axhline(means[0], color=color, linestyle="--", label=policy)
        else:
            axes.plot(rates, means, color=color, marker="o", label=policy)


def _color(policy):
    from matplotlib import colormaps

    # Twenty colors, ten strong ones and their ten weak ones in turn: the strong ones first.
    place = 2 * policies.POLICIES.index(policy)
    return colormaps["tab20"](place % 20 + place // 20)
