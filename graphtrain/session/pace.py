"""How many steps one `session.run` makes."""

import math
import statistics
import time

AUTO = "auto"

_TIMED_RUNS = 5
_TIMED_STEPS = 10
_GREATEST_OVERHEAD = 0.02
_LONGEST_RUN_SECS = 1.0


class Pace:
    """The most steps of one run: a number, or found by timing the first runs.

    Runs of one step and of ten are timed; from their medians follow the cost c of a step and the
    overhead o of a run. With n steps a run the overhead is o / (n c + o) of the time; n is the
    least with which that is under 2 %, but a run takes no longer than a second.

    Args:
      steps_per_run: int >= 1, or "auto".
      clock: function that gives the time in seconds.

    Example:
      >>> Pace(100).most_steps
      100
    """

    def __init__(self, steps_per_run, *, clock=time.perf_counter):
        self._clock = clock
        self._is_found = steps_per_run != AUTO
        self._timed = {1: [], _TIMED_STEPS: []}
        self.most_steps = steps_per_run if self._is_found else 1

    def timed(self, steps, make, *args):
        """Calls `make(*args)`, which runs `steps` steps, and returns what it returns."""
        if self._is_found or steps not in self._timed:
            return make(*args)
        began = self._clock()
        result = make(*args)
        self._timed[steps].append(self._clock() - began)
        self._look(steps)
        return result

    def _look(self, steps):
        if len(self._timed[steps]) < _TIMED_RUNS:
            return
        if steps == 1:
            self.most_steps = _TIMED_STEPS
            return
        one, ten = (statistics.median(self._timed[count]) for count in (1, _TIMED_STEPS))
        step_secs = max((ten - one) / (_TIMED_STEPS - 1), 1e-9)
        overhead = max(one - step_secs, 0.0)
        wanted = math.ceil(overhead * (1 / _GREATEST_OVERHEAD - 1) / step_secs)
        self.most_steps = max(1, min(wanted, int(_LONGEST_RUN_SECS / step_secs)))
        self._is_found = True
