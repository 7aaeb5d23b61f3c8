import pytest
import tensorflow as tf

import graphtrain
from graphtrain import export

tf1 = tf.compat.v1


def test_predict_output_names_a_single_tensor(graph):
    output = export.PredictOutput(tf.constant([1.0], name="answer"))
    signature = output.as_signature_def({"x": tf1.placeholder(tf.float32, [None], name="x")})
    assert signature.method_name == "tensorflow/serving/predict"
    assert signature.inputs["x"].name == "x:0"
    assert signature.outputs["output"].name == "answer:0"


def test_predict_output_joins_names_of_heads(graph):
    assert list(export.PredictOutput({("a", "b"): tf.constant(1)}).outputs) == ["a/b"]
    with pytest.raises(graphtrain.UsageError, match="must be a str, got 1"):
        export.PredictOutput({1: tf.constant(1)})
    with pytest.raises(graphtrain.UsageError, match="'a' must be a tensor, got 3"):
        export.PredictOutput({"a": 3})


def test_classification_and_regression_take_serialized_examples(graph):
    examples = tf1.placeholder(tf.string, [None], name="examples")
    scores = tf.constant([[0.5]])
    classify = export.ClassificationOutput(scores=scores, classes=tf.constant([["a"]]))
    signature = classify.as_signature_def({"examples": examples})
    assert signature.method_name == "tensorflow/serving/classify"
    assert sorted(signature.outputs) == ["classes", "scores"]
    signature = export.RegressionOutput(scores).as_signature_def({"examples": examples})
    assert signature.method_name == "tensorflow/serving/regress"
    for output in (classify, export.RegressionOutput(scores)):
        with pytest.raises(graphtrain.UsageError, match="single string tensor of serialized"):
            output.as_signature_def({"x": tf1.placeholder(tf.float32, [None])})


def test_outputs_of_the_wrong_type(graph):
    with pytest.raises(graphtrain.UsageError, match="scores, classes or both"):
        export.ClassificationOutput()
    with pytest.raises(graphtrain.UsageError, match="scores must be a float tensor"):
        export.ClassificationOutput(scores=tf.constant([1]))
    with pytest.raises(graphtrain.UsageError, match="classes must be a string tensor"):
        export.ClassificationOutput(classes=tf.constant([1]))
    with pytest.raises(graphtrain.UsageError, match="value must be a float tensor"):
        export.RegressionOutput(tf.constant([1]))
