"""The end of a training with parameter servers: who waits for whom, and not without end.

Each worker says that it is done. The chief waits for that, saves last, and then tells the
parameter servers, which wait for the chief.
"""

import time

import tensorflow as tf

from graphtrain.distribute import peers
from graphtrain.session import signals

tf1 = tf.compat.v1

_POLL_SECS = 0.3


def wait_for_workers(
    addresses,
    *,
    take_done,
    look_at_step,
    timeout_secs,
    missing=peers.missing,
    clock=time.monotonic,
    sleep=time.sleep,
):
    """Waits until the other workers are done or gone, as long as they make steps.

    Args:
      addresses: dict from the number of a worker to its address.
      take_done: function that returns the set of the numbers of workers that newly are done.
      look_at_step: function that returns the global step.
      timeout_secs: seconds that it may stand still at the most.
      missing: function from addresses to the list of those that do not answer.
      clock: function that gives the time in seconds.
      sleep: function that waits so many seconds.

    Returns:
      Dict of those that were given up, as `addresses`.

    Example:
      >>> wait_for_workers(
      ...     {1: "a:1"}, take_done=lambda: {1}, look_at_step=lambda: 9, timeout_secs=5)
      {}
    """
    left, suspects = dict(addresses), set()
    step, moved_at = None, clock()
    while left:
        for number in take_done():
            left.pop(number, None)
        gone = set(missing(left.values()))
        # One look may fail by chance.
        for number in [number for number, address in left.items() if address in gone & suspects]:
            tf1.logging.warning("%s is gone: it is not waited for", left.pop(number))
        suspects = gone
        now, step_now = clock(), look_at_step()
        if step_now != step:
            step, moved_at = step_now, now
        if not left or signals.requested_stop() is not None:
            break
        if now - moved_at >= timeout_secs:
            tf1.logging.warning(
                "%s made no step for %g seconds and did not end: ending without",
                ", ".join(left.values()),
                timeout_secs,
            )
            break
        sleep(_POLL_SECS)
    return left


def wait_for_word(
    chief,
    *,
    is_told,
    start_timeout_secs,
    end_timeout_secs,
    connect=peers.accepts,
    clock=time.monotonic,
    sleep=time.sleep,
):
    """Waits, in a parameter server, until the chief says that the training is over.

    Args:
      chief: str, the chief's address.
      is_told: function that returns whether the chief has said so.
      start_timeout_secs: seconds that the chief may take to come.
      end_timeout_secs: seconds that it may be gone for.
      connect: function from an address to whether it answers.
      clock: function that gives the time in seconds.
      sleep: function that waits so many seconds.

    Raises:
      PeersMissingError: the chief did not come, or did not come back.
      graphtrain.session.signals.Interrupted: a signal has asked the process to end.

    Example:
      >>> wait_for_word("a:1", is_told=lambda: True, start_timeout_secs=5, end_timeout_secs=5)
    """
    seen_at, limit = clock(), start_timeout_secs
    while not is_told():
        signals.raise_if_stop_is_requested("serving variables")
        if connect(chief):
            seen_at, limit = clock(), end_timeout_secs
        elif clock() - seen_at >= limit:
            setting = "start_timeout_secs" if limit == start_timeout_secs else "end_timeout_secs"
            raise peers.PeersMissingError([chief], limit, setting=setting)
        sleep(_POLL_SECS)
