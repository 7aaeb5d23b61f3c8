"""Times functions against each other, so that a noisy machine troubles all of them alike."""

import time

import numpy as np

WARM_UP_CALLS = 3


def paired(runs, *, repeats, clock=time.perf_counter):
    """Times one call of each function in turn, again and again; every other turn goes backwards.

    Compare two of them by the median of the ratios within a turn: what slows the machine for
    longer than a turn slows both.

    Args:
      runs: dict of name to a function without arguments.
      repeats: how many turns.
      clock: returns seconds.

    Returns:
      Dict of name to float64 [repeats], seconds a call.
    """

    def timed(run):
        start = clock()
        run()
        return clock() - start

    measures = {name: lambda run=run: timed(run) for name, run in runs.items()}
    return in_turn(measures, repeats=repeats)


def in_turn(measures, *, repeats, warm_up_calls=WARM_UP_CALLS):
    """As `paired`, with functions that measure themselves.

    Args:
      measures: dict of name to a function without arguments that returns what it measured, a
        number or a tuple of numbers.
      repeats: how many turns.
      warm_up_calls: how often each is called before.

    Returns:
      Dict of name to float64 [repeats] or [repeats, numbers].
    """
    for measure in measures.values():
        for _ in range(warm_up_calls):
            measure()
    measured = {name: [None] * repeats for name in measures}
    for turn in range(repeats):
        for name in list(measures)[:: -1 if turn % 2 else 1]:
            measured[name][turn] = measures[name]()
    return {name: np.array(values, np.float64) for name, values in measured.items()}
