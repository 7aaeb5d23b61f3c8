"""A cluster on one machine: its addresses, and its processes, started and ended together."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time

from graphtrain import checks
from graphtrain.distribute.cluster_settings import EVALUATOR, PS, WORKER
from graphtrain.errors import UsageError

_POLL_SECS = 0.1


def free_addresses(count):
    """Returns addresses of this machine that nobody listens at.

    Args:
      count: int >= 0.

    Returns:
      List of str, "127.0.0.1:port", all different.

    Example:
      >>> len(set(free_addresses(3)))
      3
    """
    with contextlib.ExitStack() as stack:
        # All are held until the last is found, so that none comes twice.
        sockets = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        return [f"127.0.0.1:{held.getsockname()[1]}" for held in sockets]


def tf_configs(*, workers=1, ps=0, evaluator=False):
    """Returns the TF_CONFIG of each process of a new cluster on this machine.

    Args:
      workers: int >= 1, how many processes train; worker 0 is the chief.
      ps: int >= 0, how many parameter servers there are.
      evaluator: bool, whether there is an evaluator.

    Returns:
      Dict from the name of a process, such as "worker 0", to its TF_CONFIG, a str.

    Raises:
      UsageError: a number makes no sense.

    Example:
      >>> list(tf_configs(workers=2, ps=1, evaluator=True))
      ['ps 0', 'worker 0', 'worker 1', 'evaluator 0']
    """
    workers = checks.whole("workers", workers)
    ps = checks.whole("ps", ps, at_least=0)
    addresses = free_addresses(ps + workers)
    cluster = {PS: addresses[:ps], WORKER: addresses[ps:]}
    cluster = {job: tasks for job, tasks in cluster.items() if tasks}
    tasks = [(job, index) for job in cluster for index in range(len(cluster[job]))]
    if evaluator:
        tasks.append((EVALUATOR, 0))
    return {
        f"{job} {index}": json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})
        for job, index in tasks
    }


class LocalProcesses:
    """Processes that run one command, each with a TF_CONFIG of its own.

    What they write is passed on line by line, each with the name of its process before it.

    Args:
      command: list of str, the command.
      configs: dict from the name of a process to its TF_CONFIG, as `tf_configs` returns.
      write: function that is given each line, without its end.
      grace_secs: seconds > 0 that a process that is to end is given before it is killed.
      keep_going: bool, whether the others go on when one has failed.

    Example:
      >>> processes = LocalProcesses(
      ...     ["sh", "-c", "echo $TF_CONFIG"], {"worker 0": "{}"}, write=print, grace_secs=9)
      >>> processes.run()
      [worker 0] {}
      0
    """

    def __init__(self, command, configs, *, write, grace_secs=30, keep_going=False):
        self._command, self._configs = list(command), dict(configs)
        self._write = write
        self._grace_secs = checks.real("grace_secs", grace_secs, above=0)
        self._keep_going = keep_going
        self._running, self._readers = {}, []
        self._kill_at, self._exit_code = None, 0

    def run(self):
        """Starts the processes and waits until all have ended.

        Returns:
          int, the exit code of the first process that failed, or 0; 128 + its number if a
          signal ended it, as shells have it.

        Raises:
          UsageError: the command cannot be run.
        """
        try:
            for name, config in self._configs.items():
                self._start(name, config)
            while self._running:
                self._look()
                time.sleep(_POLL_SECS)
        finally:
            for process in self._running.values():
                _signal_group(process, signal.SIGKILL)
                process.wait()
            for reader in self._readers:
                reader.join()
        return self._exit_code

    def send(self, number):
        """Passes a signal on to the processes; one that asks to end is given `grace_secs`.

        Args:
          number: int, such as `signal.SIGTERM`.
        """
        for process in list(self._running.values()):
            _signal_group(process, number)
        if number in (signal.SIGINT, signal.SIGTERM) and self._kill_at is None:
            self._kill_at = time.monotonic() + self._grace_secs

    def _start(self, name, config):
        try:
            process = subprocess.Popen(
                self._command,
                env={**os.environ, "TF_CONFIG": config},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # Ctrl-C would reach them by itself too, and a second signal ends a run at once.
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"{self._command[0]!r} cannot be run: {error.strerror}") from error
        self._running[name] = process
        reader = threading.Thread(target=self._pass_on, args=(name, process.stdout), daemon=True)
        reader.start()
        self._readers.append(reader)

    def _pass_on(self, name, lines):
        with lines:
            for line in lines:
                self._write(f"[{name}] {line.rstrip()}")

    def _look(self):
        for name, process in list(self._running.items()):
            code = process.poll()
            if code is None:
                continue
            del self._running[name]
            if code != 0:
                self._note_failure(name, code if code > 0 else 128 - code)
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            for name, process in self._running.items():
                self._write(f"[{name}] did not end within {self._grace_secs:g} seconds: killed")
                _signal_group(process, signal.SIGKILL)
            self._kill_at = float("inf")

    def _note_failure(self, name, code):
        self._exit_code = self._exit_code or code
        is_ending = self._kill_at is not None
        self._write(f"[{name}] ended with exit code {code}")
        if self._running and not self._keep_going and not is_ending:
            self._write(f"ending the others: {', '.join(self._running)}")
            self.send(signal.SIGTERM)


def _signal_group(process, number):
    """Sends a signal to a process and to those that it has started, as a terminal does."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
