import pytest
import tensorflow as tf

import graphtrain
from graphtrain import hooks

tf1 = tf.compat.v1


def model_fn(features, labels, mode):
    step = tf1.train.get_global_step()
    weight = tf1.get_variable("w", initializer=1.0)
    graphtrain.learning_rate_scale()
    loss = tf.reduce_mean(weight * features)
    metrics = {"flat": tf1.metrics.mean(tf.minimum(tf.cast(step, tf.float32), 4.0))}
    train_op = tf1.assign_add(step, 1)
    return graphtrain.EstimatorSpec(mode, weight, loss, train_op, eval_metric_ops=metrics)


def ones():
    return tf.data.Dataset.from_tensors([1.0]).repeat()


def train(directory, max_steps, **settings):
    """Evaluates after every second step, with the metric 2, 4, 4, ..."""
    estimator = graphtrain.Estimator(
        model_fn, str(directory), graphtrain.RunConfig(save_checkpoints_steps=2)
    )
    hook = hooks.PlateauHook("flat", lower_is_better=False, **settings)
    graphtrain.train_and_evaluate(
        estimator,
        graphtrain.TrainSpec(ones, max_steps, hooks=[hook]),
        graphtrain.EvalSpec(ones, steps=1, exporters=[hook]),
    )
    return float(estimator.get_variable_value("learning_rate_scale"))


def test_the_rate_falls_when_the_metric_stands_still(tmp_path, caplog):
    assert train(tmp_path / "a", 8, patience=2) == 1.0
    assert train(tmp_path / "b", 10, patience=2) == 0.5
    assert "flat has not improved in 2 evaluations: the learning rate is now" in caplog.text
    assert train(tmp_path / "c", 14, patience=2) == 0.25
    assert train(tmp_path / "d", 14, patience=1, factor=0.1, min_scale=0.05) == pytest.approx(0.05)


def test_it_remembers_across_a_restart(tmp_path):
    assert train(tmp_path, 7, patience=2) == 1.0
    assert train(tmp_path, 10, patience=2) == 0.5


def test_an_unknown_metric(tmp_path):
    hook = hooks.PlateauHook("speed")
    with pytest.raises(graphtrain.UsageError, match="metric='speed' is none of .* accuracy, loss"):
        hook.export(None, None, None, {"loss": 1.0, "accuracy": 0.5}, False)


def test_a_rate_that_cannot_be_scaled(graph):
    with pytest.raises(graphtrain.UsageError, match="is to be multiplied; this graph's is not"):
        graphtrain.MonitoredTrainingSession(hooks=[hooks.PlateauHook()])


@pytest.mark.parametrize(
    "settings", [{"patience": 0}, {"factor": 1}, {"min_change": -1}, {"min_scale": 0}]
)
def test_values_that_make_no_sense(settings):
    with pytest.raises(graphtrain.UsageError, match="cannot be used"):
        hooks.PlateauHook(**settings)
