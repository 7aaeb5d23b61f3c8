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
    contender.check_trials(contenders)
    runs = {key: rival.run for key, rival in contenders.items()}
    seconds = timing.paired(runs, repeats=repeats)
    contender.check_trials(contenders)
    figures = [*_times(seconds), *_against_sgd(seconds, max(trials))]
    for rival, targets in TARGETS.items():
        figures += [_against(rival, count, seconds, targets.get(count)) for count in trials]
    if memory.is_measurable():
        figures += [_memory(count, batch_size, hidden_units) for count in (1, 3)]
    return figures


def _times(seconds):
    return [
        report.milliseconds(_name(*key), seconds, lambda times, key=key: times[key])
        for key in seconds
    ]


def _name(name, trials):
    return f"{name}, {trials} trials" if trials else name


def _against_sgd(seconds, most):
    def further(times):
        return (times["ours", most] - times["ours", 1]) / (most - 1) / times["forward", 0]

    return [
        report.ratio(
            "ours, 1 trials / sgd", seconds, lambda t: t["ours", 1] / t["sgd", 0], at_most=1.4
        ),
        report.ratio("further trial of ours / forward", seconds, further, at_most=1.15),
    ]


def _against(rival, trials, seconds, at_least):
    return report.ratio(
        f"{rival} / ours, {trials} trials",
        seconds,
        lambda times: times[rival, trials] / times["ours", trials],
        at_least=at_least,
    )


def _memory(trials, batch_size, hidden_units):
    copies = memory.extra_copies(batch_size=batch_size, trials=trials, hidden_units=hidden_units)
    copies = np.round(copies, 1)  # What else a process does takes a hundredth of a copy.
    return report.Figure(
        f"memory of ours beyond sgd, {trials} trials",
        "copies",
        float(np.median(copies)),
        float(np.min(copies)),
        at_most=2,
    )
