import socket

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.distribute import server
from graphtrain.distribute.done_queue import DoneQueue

tf1 = tf.compat.v1


def test_a_process_has_one_server():
    cluster = tf.train.ClusterSpec({"worker": ["localhost:0"]})
    assert server.start(cluster, "worker", 0) is server.start(cluster, "worker", 0)


def test_an_address_in_use_is_named():
    with socket.create_server(("0.0.0.0", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        cluster = tf.train.ClusterSpec({"worker": ["w:1", address]})
        with pytest.raises(graphtrain.UsageError, match=f"worker 1 cannot listen at {address}"):
            server.start(cluster, "worker", 1)


def test_a_session_sees_what_it_needs_and_keeps_its_settings():
    given = tf1.ConfigProto(allow_soft_placement=True)
    config = server.session_config(given, job="ps", task=2)
    assert (list(config.device_filters), config.allow_soft_placement) == (["/job:ps/task:2"], True)
    assert not given.device_filters


def test_a_queue_outlives_its_sessions():
    cluster = tf.train.ClusterSpec({"ps": ["localhost:0"]})
    master = server.start(cluster, "ps", 0).target
    one, same, other = (
        DoneQueue(master, name, job="ps", task=0, ps_task=0) for name in ("a", "a", "b")
    )
    one.put([3])
    one.put([1, 3])
    assert other.take() == set()
    assert same.take() == {1, 3}
    assert one.take() == set()
