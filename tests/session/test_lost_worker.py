import pytest
import tensorflow as tf

from graphtrain.distribute.all_reduce import WorkerGroup
from graphtrain.session import lost_worker

GROUP = WorkerGroup(3, 1, stall_timeout_secs=9, addresses=("a:1", "b:1", "c:1"))


def nobody(addresses):
    del addresses
    return []


def the_last(addresses):
    return list(addresses)[-1:]


@pytest.mark.parametrize(
    ("error", "missing", "message"),
    [
        (
            tf.errors.UnavailableError(None, None, "Socket closed"),
            the_last,
            "Worker 1 cannot make a step: worker 2 at c:1 does not answer any more (Socket closed)."
            " Start all workers again: they go on from the last checkpoint.",
        ),
        (
            tf.errors.DeadlineExceededError(None, None, "timed out"),
            nobody,
            "a worker has not come to the step within stall_timeout_secs=9 seconds, though all "
            "ports answer: see what it waits for (timed out)",
        ),
        (
            tf.errors.InternalError(None, None, "Collective ops is aborted by: shape"),
            nobody,
            "another worker has broken off, though all ports answer: see its log (Collective ops",
        ),
    ],
)
def test_it_says_who_is_missing(error, missing, message):
    assert message in str(lost_worker.error_meant_by(error, GROUP, missing=missing))


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.InternalError(None, None, "a kernel of this worker failed"),
        tf.errors.AbortedError(None, None, "an op of this worker gave up"),
        tf.errors.InvalidArgumentError(None, None, "a shape is wrong"),
        ValueError("Collective"),
    ],
)
def test_an_error_of_this_worker_stays_what_it_is(error):
    assert lost_worker.error_meant_by(error, GROUP, missing=the_last) is None


class Session:
    closed = False

    def close(self):
        self.closed = True


def looked(missing, *, looks=4):
    """Whether the session is closed after each of some looks within one step."""
    session = Session()
    watch = lost_worker.StallWatch(session, GROUP, missing=missing)
    found = []
    with watch.step():
        for _ in range(looks):
            watch.look()
            found.append(session.closed)
    return found


def test_a_step_is_broken_off_once_a_worker_is_missing_twice():
    # The first look only notes which step it is.
    assert looked(the_last) == [False, False, True, True]
    assert looked(nobody) == [False] * 4


def test_one_look_may_fail_by_chance():
    answers = iter([["a:1"], [], ["c:1"]])
    assert looked(lambda addresses: next(answers)) == [False] * 4


def test_nothing_is_broken_off_between_steps():
    session = Session()
    asked = []
    watch = lost_worker.StallWatch(session, GROUP, missing=asked.append)
    for _ in range(3):
        watch.look()
        with watch.step():
            watch.look()
    assert not asked
    assert not session.closed
