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
    for run in runs.values():
        for _ in range(WARM_UP_CALLS):
            run()
    seconds = {name: np.empty(repeats) for name in runs}
    for turn in range(repeats):
        for name in list(runs)[:: -1 if turn % 2 else 1]:
            start = clock()
            runs[name]()
            seconds[name][turn] = clock() - start
    return seconds
