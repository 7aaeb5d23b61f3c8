import pytest
import tensorflow as tf
import tiny

import graphtrain

tf1 = tf.compat.v1


def test_metrics_are_added_and_replaced(tmp_path):
    def metric_fn(predictions, features, config, labels):
        assert config.model_dir == str(tmp_path)
        return {
            "error": tf1.metrics.mean(tf.constant(7.0)),
            "sum": tf1.metrics.mean(predictions["product"] + features + labels),
        }

    plain = tiny.halving(tmp_path, params={"learning_rate": 0.25}).train(tiny.ones(), max_steps=1)
    estimator = graphtrain.add_metrics(plain, metric_fn)
    results = estimator.evaluate(tiny.ones(2))
    assert results == {"error": 7.0, "sum": 1.5, "loss": 0.25, "global_step": 1}
    assert plain.evaluate(tiny.ones(2))["error"] == 0.5
    estimator.train(tiny.ones(), max_steps=2)
    assert plain.get_variable_value("w") == 0.25


def test_input_fns_still_get_the_params(tmp_path):
    estimator = graphtrain.add_metrics(
        tiny.halving(tmp_path, params={"batches": 3}),
        lambda labels: {"count": tf1.metrics.mean(tf.ones_like(labels))},
    )
    results = estimator.evaluate(lambda params: tiny.ones(params["batches"])())
    assert results["count"] == 1.0


def test_a_model_fn_without_labels(tmp_path):
    def model_fn(features, mode):
        return graphtrain.EstimatorSpec(mode, features, tf.reduce_mean(features), tf.no_op())

    estimator = graphtrain.add_metrics(
        graphtrain.Estimator(model_fn, str(tmp_path)),
        lambda predictions: {"total": tf1.metrics.mean(predictions)},
    )
    results = estimator.evaluate(lambda: tf.data.Dataset.from_tensors([1.0, 3.0]))
    assert results["total"] == 2.0


def test_what_cannot_be_added(tmp_path):
    with pytest.raises(graphtrain.UsageError, match="not known: params; known are features"):
        graphtrain.add_metrics(tiny.halving(tmp_path), lambda params: {})
    with pytest.raises(TypeError, match="must be a graphtrain.Estimator, got 3"):
        graphtrain.add_metrics(3, lambda labels: {})
