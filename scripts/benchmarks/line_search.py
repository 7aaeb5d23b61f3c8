"""The case `line_search`: ours against plain SGD and the two ways to search that there were."""

import functools

import numpy as np

from benchmarks import contender, graph_steps, memory, report, timing
from benchmarks.article_search import article_search
from benchmarks.session_search import session_search

TRIALS = (1, 2, 3, 5)
SEARCHES = {
    "ours": graph_steps.searched,
    "article's search": article_search,
    "article's step": functools.partial(article_search, with_metrics=True),
    "session search": session_search,
}
SELDOM = 10
_SGD_STEPS = f"sgd, {SELDOM} steps"
_SELDOM_STEPS = f"ours, {SELDOM} steps, 1 searched"
# How many times slower than ours the others must be, by the number of trials.
TARGETS = {
    "article's search": {1: 1.5, 5: 3.0},
    "article's step": {1: 1.5, 5: 3.0},
    "session search": dict.fromkeys(TRIALS, 1.0),
}


def measure(*, batch_size, repeats, trials=TRIALS, hidden_units=memory.HIDDEN_UNITS):
    """Times the article's CNN, and measures the memory of a large perceptron.

    Args:
      batch_size: images in the batch.
      repeats: how often each is timed.
      trials: the numbers of trials to time, 1 and a greater one among them.
      hidden_units: units of the perceptron's hidden layer.

    Returns:
      A list of figures.
    """
    contenders = {
        ("forward", 0): graph_steps.forward(batch_size),
        ("sgd", 0): graph_steps.sgd(batch_size),
    }
    for count in trials:
        for name, search in SEARCHES.items():
            contenders[name, count] = search(batch_size, count)
    seldom = graph_steps.searched(batch_size, 1, search_every=SELDOM)
    contenders[_SGD_STEPS, 0] = contenders["sgd", 0].repeated(SELDOM)
    contenders[_SELDOM_STEPS, 0] = seldom.repeated(SELDOM)

    contender.check_trials(contenders)
    runs = {key: rival.run for key, rival in contenders.items()}
    seconds = timing.paired(runs, repeats=repeats)
    contender.check_trials(contenders)
    figures = [
        report.milliseconds(_name(*key), seconds, lambda times, key=key: times[key])
        for key in seconds
    ]
    figures += _against_sgd(seconds, max(trials))
    for rival, targets in TARGETS.items():
        figures += [_against(rival, count, seconds, targets.get(count)) for count in trials]
    if memory.is_measurable():
        figures += _memory(batch_size, hidden_units)
    return figures


def _name(name, trials):
    return f"{name}, {_counted(trials)}" if trials else name


def _counted(trials):
    return f"{trials} trial" if trials == 1 else f"{trials} trials"


def _against_sgd(seconds, most):
    def first(times):
        return times["ours", 1] / times["sgd", 0]

    def further(times):
        return (times["ours", most] - times["ours", 1]) / (most - 1) / times["forward", 0]

    def seldom(times):
        return times[_SELDOM_STEPS, 0] / times[_SGD_STEPS, 0]

    return [
        report.ratio("ours, 1 trial / sgd", seconds, first, at_most=1.4),
        report.ratio("further trial of ours / forward", seconds, further, at_most=1.15),
        report.ratio(f"{_SELDOM_STEPS} / {_SGD_STEPS}", seconds, seldom, at_most=1.06),
    ]


def _against(rival, trials, seconds, at_least):
    return report.ratio(
        f"{rival} / ours, {_counted(trials)}",
        seconds,
        lambda times: times[rival, trials] / times["ours", trials],
        at_least=at_least,
    )


def _memory(batch_size, hidden_units):
    counts = (1, 3)
    measured = memory.extra_copies(batch_size=batch_size, trials=counts, hidden_units=hidden_units)
    # What else a process does takes a hundredth of a copy.
    return [
        report.Figure(
            f"memory of ours beyond sgd, {_counted(count)}",
            "copies",
            float(np.median(copies)),
            float(np.min(copies)),
            at_most=2,
        )
        for count, copies in zip(counts, measured.round(1), strict=True)
    ]
