import pytest
import tensorflow as tf

import graphtrain
from graphtrain.export.supervised import (
    SupervisedInputReceiver,
    build_raw_supervised_input_receiver_fn,
)

tf1 = tf.compat.v1


def test_dicts_are_fed_by_their_names(graph):
    receiver = build_raw_supervised_input_receiver_fn(
        {"a": tf.zeros([4, 2]), "b": tf.zeros([4], tf.int64)}, {"c": tf.zeros([4])}
    )()
    assert sorted(receiver.features) == ["a", "b"]
    assert receiver.features["a"].shape.as_list() == [None, 2]
    assert receiver.labels["c"].dtype == tf.float32
    assert sorted(receiver.receiver_tensors) == ["a", "b", "c"]
    assert receiver.receiver_tensors["b"] is receiver.features["b"]


def test_single_tensors_get_names(graph):
    receiver = build_raw_supervised_input_receiver_fn(tf.zeros([4, 2]), tf.zeros([4]), 8)()
    assert receiver.features.shape.as_list() == [8, 2]
    assert receiver.receiver_tensors == {"input": receiver.features, "label": receiver.labels}


def test_shared_names_are_refused(graph):
    with pytest.raises(graphtrain.UsageError, match=r"both have \['a'\]"):
        build_raw_supervised_input_receiver_fn({"a": tf.zeros([4])}, {"a": tf.zeros([4])})


def test_what_makes_no_receiver(graph):
    tensor = tf.zeros([4])
    for arguments, message in [
        ((None, tensor, tensor), "features must be given, got None"),
        ((tensor, None, tensor), "labels must be given, got None"),
        ((tensor, tensor, None), "receiver_tensors must be given, got None"),
        ((tensor, tensor, {"x": 3}), r"receiver_tensors\['x'\] must be a tensor, got 3"),
    ]:
        with pytest.raises(graphtrain.UsageError, match=message):
            SupervisedInputReceiver(*arguments)
