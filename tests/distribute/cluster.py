"""A cluster of real processes on the loopback address, for tests: every wait is bounded."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import graphtrain
from graphtrain.distribute.local_cluster import tf_configs

ROOT = pathlib.Path(graphtrain.__file__).parents[1]
PROGRAM = pathlib.Path(__file__).parent / "program.py"


class Cluster:
    """Processes by the names that `tf_configs` gives them, such as "worker 0".

    In a `with` block: whatever still runs at its end is killed, and if the block failed, the
    processes' logs are in the test's output.

    Args:
      directory: path, where the logs go.
      configs: dict from name to TF_CONFIG; or None to make them by `shape`.
      **shape: see `tf_configs`.
    """

    def __init__(self, directory, configs=None, **shape):
        self.configs = configs or tf_configs(**shape)
        self._directory = pathlib.Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._processes, self._logs = {}, {}

    def __enter__(self):
        return self

    def __exit__(self, exception_type, exception, traceback):
        for process in self._processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        if exception_type is not None:
            for name in self._logs:
                print(f"---- {name}, exit code {self._processes[name].returncode}")
                print("\n".join(self.log(name).splitlines()[-40:]))

    def start(self, *args, names=None, program=PROGRAM):
        """Starts processes, all by default; a process that has ended may be started again."""
        for name in names or self.configs:
            self._logs[name] = self._directory / f"{name.replace(' ', '_')}.log"
            with self._logs[name].open("ab") as log:
                self._processes[name] = subprocess.Popen(
                    [sys.executable, str(program), *map(str, args)],
                    env={
                        **os.environ,
                        "TF_CONFIG": self.configs[name],
                        "PYTHONPATH": os.pathsep.join([str(ROOT), str(PROGRAM.parent)]),
                        "TF_CPP_MIN_LOG_LEVEL": "2",
                    },
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )

    def log(self, name):
        """Returns what a process has written so far, under all its lives."""
        return self._logs[name].read_text(errors="replace")

    def wait_for(self, name, pattern, *, count=1, within_secs=60):
        """Waits until a process has written a pattern `count` times; returns the last match."""
        limit = time.monotonic() + within_secs
        while True:
            is_over = self._processes[name].poll() is not None
            matches = list(re.finditer(pattern, self.log(name)))
            if len(matches) >= count:
                return matches[count - 1]
            assert not is_over, f"{name} ended without {pattern!r}"
            assert time.monotonic() < limit, f"{name} did not write {pattern!r} in time"
            time.sleep(0.05)

    def signal(self, name, number=signal.SIGKILL):
        """Sends a signal; after SIGKILL it waits for the process to be gone."""
        self._processes[name].send_signal(number)
        if number == signal.SIGKILL:
            self._processes[name].wait()

    def exit_codes(self, *names, within_secs=60):
        """Waits until processes, all by default, have ended; returns their exit codes by name."""
        limit = time.monotonic() + within_secs
        names = names or tuple(self._processes)
        while running := [name for name in names if self._processes[name].poll() is None]:
            assert time.monotonic() < limit, f"{', '.join(running)} did not end in time"
            time.sleep(0.05)
        return {name: self._processes[name].returncode for name in names}
