"""Where the time of a run goes."""

import contextlib
import time


class Stopwatch:
    """Adds up seconds by what they were spent on; what is timed inside is not counted outside.

    Args:
      clock: function that gives the time in seconds.

    Example:
      >>> times = iter([0.0, 1.0, 3.0, 4.0])
      >>> watch = Stopwatch(clock=lambda: next(times))
      >>> with watch.timing("steps"):
      ...     with watch.timing("saves"):
      ...         pass
      >>> watch.secs
      {'steps': 2.0, 'saves': 2.0}
    """

    def __init__(self, *, clock=time.perf_counter):
        self._clock = clock
        self._running = []
        self._since = None
        self.secs = {}

    @contextlib.contextmanager
    def timing(self, what):
        """Counts the time of a `with` block as spent on `what`."""
        self.start(what)
        try:
            yield
        finally:
            self.stop()

    def start(self, what):
        """Counts the time from now on as spent on `what`, until `stop`."""
        self._count()
        self.secs.setdefault(what, 0.0)
        self._running.append(what)

    def stop(self):
        """Ends what was started last, and goes on with what was before."""
        self._count()
        self._running.pop()

    def _count(self):
        now = self._clock()
        if self._running:
            self.secs[self._running[-1]] += now - self._since
        self._since = now
