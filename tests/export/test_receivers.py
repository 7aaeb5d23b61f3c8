import pytest
import tensorflow as tf

import graphtrain
from graphtrain import export
from graphtrain.export import signatures

tf1 = tf.compat.v1


def placeholder(name="x", shape=(None, 3), dtype=tf.float32):
    return tf1.placeholder(dtype, shape, name=name)


def test_single_tensors_are_wrapped(graph):
    x = placeholder()
    receiver = export.ServingInputReceiver(x, x, {"raw": x})
    assert receiver.features == {"feature": x}
    assert receiver.receiver_tensors == {"input": x}
    assert receiver.receiver_tensors_alternatives == {"raw": {"input": x}}
    assert export.TensorServingInputReceiver(x, {"x": x}).features is x


def test_names_of_features_may_be_ints(graph):
    x = placeholder()
    assert export.ServingInputReceiver({1: x}, x).features == {1: x}


def test_what_makes_no_receiver(graph):
    x = placeholder()
    for make, message in [
        (lambda: export.ServingInputReceiver(None, x), "features must be given"),
        (lambda: export.ServingInputReceiver(x, None), "receiver_tensors must be given"),
        (lambda: export.ServingInputReceiver(x, {1: x}), "must be str, got 1"),
        (lambda: export.ServingInputReceiver({"x": [1]}, x), r"\['x'\] must be a tensor"),
        (lambda: export.ServingInputReceiver(x, x, [x]), "alternatives must be a dict"),
        (lambda: export.TensorServingInputReceiver({"x": x}, x), "must be a single tensor"),
        (lambda: export.TensorServingInputReceiver(None, x), "features must be given"),
    ]:
        with pytest.raises(graphtrain.UsageError, match=message):
            make()


def test_raw_receivers_are_placeholders_of_the_same_kind(graph):
    with tf.Graph().as_default():
        features = {"x": tf.zeros([8, 3], tf.float64)}
        receiver_fn = export.build_raw_serving_input_receiver_fn(features, default_batch_size=2)
    receiver = receiver_fn()
    assert receiver.features["x"].shape == [2, 3]
    assert receiver.features["x"].dtype == tf.float64
    assert receiver.receiver_tensors == receiver.features


def test_parsing_receivers_take_serialized_examples(graph):
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32), "words": tf.io.VarLenFeature(tf.string)}
    receiver = export.build_parsing_serving_input_receiver_fn(spec)()
    assert receiver.receiver_tensors["examples"].dtype == tf.string
    assert receiver.features["x"].shape.as_list() == [None, 2]
    assert isinstance(receiver.features["words"], tf.SparseTensor)


def test_signatures_of_alternative_receivers(graph):
    examples, x = placeholder("examples", [None], tf.string), placeholder()
    receiver = export.ServingInputReceiver(x, {"x": x}, {"other": {"y": x}})
    outputs = {
        "serving_default": export.PredictOutput(x * 2),
        "regression": export.RegressionOutput(tf.constant([1.0])),
    }
    assert sorted(signatures.build(receiver, outputs)) == [
        "other:serving_default",
        "serving_default",
    ]
    receiver = export.ServingInputReceiver(x, {"examples": examples})
    assert list(signatures.build(receiver, outputs)) == ["regression"]


def test_outputs_that_nobody_can_feed(graph):
    x, forgotten = placeholder(), placeholder("forgotten")
    receiver = export.ServingInputReceiver(x, {"x": x})
    outputs = {"serving_default": export.PredictOutput(x + forgotten)}
    message = "No signature of the model can be served.*need the placeholder 'forgotten'"
    with pytest.raises(graphtrain.UsageError, match=message):
        signatures.build(receiver, outputs)


def test_feeding_in_the_middle_of_the_graph(graph):
    examples = placeholder("examples", [None], tf.string)
    parsed = tf.strings.to_number(examples)
    receiver = export.ServingInputReceiver(parsed, {"parsed": parsed})
    outputs = {"serving_default": export.PredictOutput(parsed * 2)}
    assert list(signatures.build(receiver, outputs)) == ["serving_default"]
