import pytest

from graphtrain.distribute import ending, peers
from graphtrain.distribute.chief_watch import ChiefWatchHook
from graphtrain.session import signals


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, secs):
        self.now += secs


def wait_for_workers(addresses, *, done=(), steps=None, gone=lambda now: ()):
    """Waits with a limit of 10 seconds; returns who was given up, and after how long.

    `done` are pairs (second, worker), `steps` gives the step of each second.
    """
    clock = Clock()
    result = ending.wait_for_workers(
        addresses,
        take_done=lambda: {worker for second, worker in done if second <= clock.now},
        look_at_step=lambda: 0 if steps is None else steps(clock.now),
        timeout_secs=10,
        missing=lambda asked: [address for address in asked if address in gone(clock.now)],
        clock=clock,
        sleep=clock.sleep,
    )
    return result, clock.now


def test_the_chief_waits_until_all_are_done():
    assert wait_for_workers({}) == ({}, 0)
    left, secs = wait_for_workers({1: "a:1", 2: "b:1"}, done=[(0, 1), (6, 2)])
    assert left == {}
    assert secs == pytest.approx(6, abs=0.4)


def test_the_chief_waits_as_long_as_steps_are_made():
    left, secs = wait_for_workers({1: "a:1"}, done=[(100, 1)], steps=lambda now: int(now / 9))
    assert left == {}
    assert secs == pytest.approx(100, abs=0.4)


def test_a_worker_that_stands_still_is_given_up(caplog):
    left, secs = wait_for_workers({1: "a:1", 2: "b:1"}, done=[(1, 1)], steps=lambda now: now >= 5)
    assert left == {2: "b:1"}
    assert secs == pytest.approx(15, abs=0.7)
    assert "b:1 made no step for 10 seconds and did not end: ending without" in caplog.text


def test_a_worker_that_is_gone_is_not_waited_for(caplog):
    left, secs = wait_for_workers({1: "a:1"}, gone=lambda now: ["a:1"])
    assert left == {}
    assert 0 < secs < 1
    assert "a:1 is gone: it is not waited for" in caplog.text


def test_one_failed_look_is_no_loss():
    left, secs = wait_for_workers(
        {1: "a:1"}, done=[(5, 1)], gone=lambda now: ["a:1"] if now == 0 else []
    )
    assert (left, secs >= 5) == ({}, True)


def test_a_signal_ends_the_chiefs_wait(monkeypatch):
    monkeypatch.setattr(signals, "requested_stop", lambda: "SIGTERM")
    assert wait_for_workers({1: "a:1"}) == ({1: "a:1"}, 0)


def wait_for_word(*, told_at, chief_is_there):
    clock = Clock()
    ending.wait_for_word(
        "c:1",
        is_told=lambda: clock.now >= told_at,
        start_timeout_secs=20,
        end_timeout_secs=10,
        connect=lambda address: chief_is_there(clock.now),
        clock=clock,
        sleep=clock.sleep,
    )
    return clock.now


def test_a_parameter_server_waits_for_the_word():
    assert wait_for_word(told_at=1000, chief_is_there=lambda now: True) >= 1000


def test_a_chief_may_come_late_and_come_back():
    assert wait_for_word(told_at=99, chief_is_there=lambda now: 15 < now < 50 or now > 58) >= 99


@pytest.mark.parametrize(
    ("chief_is_there", "message"),
    [
        (lambda now: False, "from c:1 within 20 seconds: .*start_timeout_secs is how long"),
        (lambda now: now < 50, "from c:1 within 10 seconds: .*end_timeout_secs is how long"),
    ],
)
def test_a_parameter_server_without_a_chief_ends(chief_is_there, message):
    with pytest.raises(peers.PeersMissingError, match=message):
        wait_for_word(told_at=1e9, chief_is_there=chief_is_there)


def test_a_worker_ends_if_its_chief_is_gone_for_too_long(caplog):
    clock, answers = Clock(), []
    hook = ChiefWatchHook(
        "c:1",
        timeout_secs=25,
        connect=lambda address: answers.append(clock.now) or clock.now in (10, 50),
        clock=clock,
    )
    hook.after_create_session(None, None)
    for clock.now in range(71):
        hook.after_run(None, None)
    # It looks every ten seconds; from 20 to 50 and from 60 on the chief is gone.
    assert answers == [10, 20, 30, 40, 50, 60, 70]
    assert caplog.text.count("the chief, c:1, is gone: nobody saves") == 2
    for clock.now in range(71, 90):
        hook.after_run(None, None)
    clock.now = 90
    with pytest.raises(peers.PeersMissingError, match="from c:1 within 25 seconds"):
        hook.after_run(None, None)
