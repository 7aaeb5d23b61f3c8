"""Whether the other processes of a cluster are there: their ports are asked, nothing is sent."""

import concurrent.futures
import contextlib
import socket
import time

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.session import signals

tf1 = tf.compat.v1

_CONNECT_SECS = 3.0
_POLL_SECS = 0.3
_SAY_EVERY_SECS = 30.0
_MOST_AT_ONCE = 32


class PeersMissingError(UsageError):
    """Processes of the cluster that do not answer.

    Args:
      addresses: list of str, "host:port" of each.
      waited_secs: seconds that were waited for them.
      setting: str, what the limit is called in a `RunConfig`.
    """

    def __init__(self, addresses, waited_secs, *, setting="start_timeout_secs"):
        self.addresses = list(addresses)
        super().__init__(
            f"No answer from {', '.join(self.addresses)} within {waited_secs:g} seconds: start "
            f"{'that process' if len(self.addresses) == 1 else 'those processes'}, see to the "
            f"network between, or correct the cluster's addresses; {setting} is how long is "
            "waited."
        )


def accepts(address):
    """Says whether a process listens at an address.

    Args:
      address: str, "host:port".

    Returns:
      bool; False too if the host has no such name.

    Example:
      >>> accepts("127.0.0.1:0")
      False
    """
    host, _, port = address.rpartition(":")
    try:
        with contextlib.closing(
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECS)
        ):
            return True
    except (OSError, UnicodeError):
        return False


def missing(addresses, *, connect=accepts):
    """Returns which of the addresses do not answer now.

    They are asked beside each other, so that it takes some seconds at the most.

    Args:
      addresses: iterable of str, "host:port".
      connect: function from an address to whether it answers.

    Returns:
      List of str, in the order given.

    Example:
      >>> missing(["a:1", "b:2"], connect=lambda address: address == "a:1")
      ['b:2']
    """
    addresses = list(addresses)
    if not addresses:
        return []
    with concurrent.futures.ThreadPoolExecutor(min(len(addresses), _MOST_AT_ONCE)) as pool:
        answers = list(pool.map(connect, addresses))
    return [address for address, answer in zip(addresses, answers, strict=True) if not answer]


def wait(addresses, *, timeout_secs, connect=accepts, clock=time.monotonic, sleep=time.sleep):
    """Waits until a process listens at each of the addresses.

    Args:
      addresses: iterable of str, "host:port".
      timeout_secs: seconds to wait at the most.
      connect: function from an address to whether it answers.
      clock: function that gives the time in seconds.
      sleep: function that waits so many seconds.

    Raises:
      PeersMissingError: some did not answer in time; it names them.
      graphtrain.session.signals.Interrupted: a signal has asked the process to end.

    Example:
      >>> wait(["a:1"], timeout_secs=5, connect=lambda address: True)
      >>> wait(["a:1", "b:2"], timeout_secs=0, connect=lambda address: address == "a:1")
      Traceback (most recent call last):
      graphtrain.distribute.peers.PeersMissingError: No answer from b:2 within 0 seconds: ...
    """
    left = list(addresses)
    began = said = clock()
    while left := missing(left, connect=connect):
        signals.raise_if_stop_is_requested("the wait for the other processes")
        now = clock()
        if now - began >= timeout_secs:
            raise PeersMissingError(left, timeout_secs)
        if now - said >= _SAY_EVERY_SECS:
            said = now
            tf1.logging.info("waiting for %s since %d seconds", ", ".join(left), now - began)
        sleep(min(_POLL_SECS, began + timeout_secs - now))
