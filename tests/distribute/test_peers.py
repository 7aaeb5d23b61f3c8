import socket

import pytest

from graphtrain.distribute import peers
from graphtrain.session import signals


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, secs):
        assert secs > 0
        self.now += secs


def wait(addresses, *, timeout_secs, connect):
    clock = Clock()
    try:
        peers.wait(
            addresses, timeout_secs=timeout_secs, connect=connect, clock=clock, sleep=clock.sleep
        )
    finally:
        wait.waited = clock.now - 100.0


def test_a_listening_port_answers_and_a_closed_one_does_not():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert peers.accepts(address)
        peers.wait([address], timeout_secs=0)
        assert peers.missing(["no.such.host.invalid:1", address]) == ["no.such.host.invalid:1"]
    assert peers.missing([address]) == [address]


def test_those_that_answered_are_not_asked_again():
    asked = []

    def connect(address):
        asked.append(address)
        return address == "a:1" or asked.count("b:2") == 3

    wait(["a:1", "b:2"], timeout_secs=60, connect=connect)
    assert (asked.count("a:1"), asked.count("b:2")) == (1, 3)
    assert wait.waited == pytest.approx(0.6)


def test_the_limit_holds_and_the_missing_are_named():
    with pytest.raises(peers.PeersMissingError, match="No answer from b:2, c:3 within 7 sec") as e:
        wait(["a:1", "b:2", "c:3"], timeout_secs=7, connect=lambda address: address == "a:1")
    assert e.value.addresses == ["b:2", "c:3"]
    assert wait.waited == pytest.approx(7)


def test_nobody_to_wait_for():
    assert peers.missing([]) == []
    peers.wait([], timeout_secs=0)


def test_a_signal_ends_the_wait(monkeypatch):
    monkeypatch.setattr(signals, "requested_stop", lambda: "SIGTERM")
    with pytest.raises(signals.Interrupted, match="wait for the other processes .* SIGTERM"):
        wait(["a:1"], timeout_secs=60, connect=lambda address: False)
    assert wait.waited == 0
