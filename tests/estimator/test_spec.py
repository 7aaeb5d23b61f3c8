import pytest
import tensorflow as tf

import graphtrain
from graphtrain import export

tf1 = tf.compat.v1
TRAIN, EVAL, PREDICT = (
    graphtrain.ModeKeys.TRAIN,
    graphtrain.ModeKeys.EVAL,
    graphtrain.ModeKeys.PREDICT,
)


class NamedExporter:
    def __init__(self, name):
        self.name = name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return export_path


def test_mode_keys_are_those_of_tf_estimator():
    assert (TRAIN, EVAL, PREDICT) == ("train", "eval", "infer")


def test_each_mode_needs_its_fields(graph):
    loss, train_op = tf.constant(1.0), tf.no_op()
    with pytest.raises(graphtrain.UsageError, match="Missing train_op: mode 'train'"):
        graphtrain.EstimatorSpec(TRAIN, loss=loss)
    with pytest.raises(graphtrain.UsageError, match="Missing loss: mode 'train'"):
        graphtrain.EstimatorSpec(TRAIN, train_op=train_op)
    with pytest.raises(graphtrain.UsageError, match="Missing loss: mode 'eval'"):
        graphtrain.EstimatorSpec(EVAL)
    with pytest.raises(graphtrain.UsageError, match="Missing predictions: mode 'infer'"):
        graphtrain.EstimatorSpec(PREDICT)
    with pytest.raises(graphtrain.UsageError, match="mode='predict' cannot be used"):
        graphtrain.EstimatorSpec("predict", predictions=loss)


def test_a_mode_bears_the_fields_of_the_others(graph):
    for mode in (TRAIN, EVAL, PREDICT):
        spec = graphtrain.EstimatorSpec(
            mode,
            predictions={"class": tf.constant([1])},
            loss=tf.constant(1.0),
            train_op=tf.no_op(),
            eval_metric_ops={"mean": tf1.metrics.mean([1.0])},
        )
        assert spec.mode == mode
    assert isinstance(spec.scaffold, tf1.train.Scaffold)
    assert spec.training_hooks == ()


def test_loss_of_one_element_becomes_a_scalar(graph):
    spec = graphtrain.EstimatorSpec(EVAL, loss=tf.constant([2.0]))
    assert spec.loss.shape == []
    with pytest.raises(graphtrain.UsageError, match=r"must be a scalar, got shape \(2,\)"):
        graphtrain.EstimatorSpec(EVAL, loss=tf.constant([1.0, 2.0]))


def test_tensors_of_another_graph_are_refused(graph):
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="foreign")
    with pytest.raises(graphtrain.UsageError, match="'foreign:0'.* belongs to another graph"):
        graphtrain.EstimatorSpec(EVAL, loss=foreign)
    with pytest.raises(graphtrain.UsageError, match=r"predictions\['p'\].*another graph"):
        graphtrain.EstimatorSpec(PREDICT, predictions={"p": foreign})
    with pytest.raises(graphtrain.UsageError, match="train_op.*another graph"):
        graphtrain.EstimatorSpec(TRAIN, loss=tf.constant(1.0), train_op=foreign.op)


def test_wrong_types_are_type_errors(graph):
    loss = tf.constant(1.0)
    for field, value, message in [
        ("loss", 1.0, "loss must be a tensor, got 1.0"),
        ("train_op", "minimize", "train_op must be an operation or a tensor"),
        ("predictions", {"p": [1]}, r"predictions\['p'\] must be a tensor, got \[1\]"),
        ("eval_metric_ops", [1], "eval_metric_ops must be a dict"),
        ("eval_metric_ops", {"a": loss}, r"eval_metric_ops\['a'\] must be a tuple"),
        ("training_hooks", ["hook"], "training_hooks must be SessionRunHook instances"),
        ("scaffold", "scaffold", "scaffold must be a tf.compat.v1.train.Scaffold"),
    ]:
        with pytest.raises(TypeError, match=message):
            graphtrain.EstimatorSpec(**{"mode": EVAL, "loss": loss, field: value})


def test_a_variable_may_be_the_train_op(graph_mode):
    variable = tf1.get_variable("v", initializer=0.0)
    spec = graphtrain.EstimatorSpec(TRAIN, loss=tf.constant(1.0), train_op=variable)
    assert isinstance(spec.train_op, tf.Operation)


def test_replace_validates_and_keeps_the_mode(graph):
    spec = graphtrain.EstimatorSpec(EVAL, loss=tf.constant(1.0))
    other = tf.constant(2.0)
    assert spec._replace(loss=other).loss is other
    with pytest.raises(graphtrain.UsageError, match="cannot be changed from 'eval' to 'train'"):
        spec._replace(mode=TRAIN)
    with pytest.raises(AttributeError):
        spec.loss = other


def test_export_outputs_have_a_default(graph):
    probabilities = tf.constant([[0.5, 0.5]])
    one = {"scores": export.ClassificationOutput(scores=probabilities)}
    spec = graphtrain.EstimatorSpec(PREDICT, predictions=probabilities, export_outputs=one)
    assert sorted(spec.export_outputs) == ["scores", "serving_default"]
    two = {"a": export.PredictOutput(probabilities), "b": export.PredictOutput(probabilities)}
    with pytest.raises(graphtrain.UsageError, match=r"\['a', 'b'\], but none .* the default"):
        graphtrain.EstimatorSpec(PREDICT, predictions=probabilities, export_outputs=two)


def test_train_spec():
    assert graphtrain.TrainSpec(len).max_steps is None
    assert graphtrain.TrainSpec(len, max_steps=312.5).max_steps == 313
    for max_steps in (0, -1, float("nan"), "10"):
        with pytest.raises(graphtrain.UsageError, match="max_steps="):
            graphtrain.TrainSpec(len, max_steps=max_steps)
    with pytest.raises(TypeError, match="input_fn must be callable, got 3"):
        graphtrain.TrainSpec(3)
    with pytest.raises(TypeError, match="saving_listeners must be CheckpointSaverListener"):
        graphtrain.TrainSpec(len, saving_listeners=[3])


def test_eval_spec():
    spec = graphtrain.EvalSpec(len, exporters=NamedExporter("last"))
    assert (spec.steps, spec.start_delay_secs, spec.throttle_secs) == (100, 120, None)
    assert [exporter.name for exporter in spec.exporters] == ["last"]
    assert graphtrain.EvalSpec(len, steps=None).steps is None
    with pytest.raises(graphtrain.UsageError, match="steps=0 cannot be used"):
        graphtrain.EvalSpec(len, steps=0)
    with pytest.raises(graphtrain.UsageError, match="throttle_secs=-1"):
        graphtrain.EvalSpec(len, throttle_secs=-1)
    with pytest.raises(TypeError, match="name must be a str, got 3"):
        graphtrain.EvalSpec(len, name=3)


def test_exporters_are_told_apart_by_name():
    with pytest.raises(graphtrain.UsageError, match=r"unique names, got \['a', 'a'\]"):
        graphtrain.EvalSpec(len, exporters=[NamedExporter("a"), NamedExporter("a")])
    with pytest.raises(graphtrain.UsageError, match="non-empty str, got ''"):
        graphtrain.EvalSpec(len, exporters=[NamedExporter("")])
    with pytest.raises(TypeError, match="must have a method export"):
        graphtrain.EvalSpec(len, exporters=["last"])


class MetricObject:
    """What metric objects of tf_keras are like: ops in the graph once it was called."""

    def __init__(self):
        self._total = tf1.get_variable("total", initializer=0.0, collections=[])
        self.variables, self.updates = [self._total], []

    def __call__(self, value):
        self.updates.append(tf1.assign_add(self._total, value))

    def result(self):
        return self._total.read_value()


def test_metric_objects(graph):
    metric = MetricObject()
    metric(2.0)
    loss = tf.constant(1.0)
    spec = graphtrain.EstimatorSpec("eval", loss=loss, eval_metric_ops={"total": metric})
    value, update = spec.eval_metric_ops["total"]
    (local,) = tf1.local_variables()
    assert tf1.get_collection(tf1.GraphKeys.METRIC_VARIABLES) == [local]
    with tf1.Session() as session:
        session.run(tf1.local_variables_initializer())
        session.run([update, update])
        session.run(update)
        assert session.run(value) == 4.0


def test_metric_objects_of_keras_3_are_refused(graph):
    loss = tf.constant(1.0)
    metrics = {"mean": tf.keras.metrics.Mean()}
    with pytest.raises(TypeError, match="Metric objects of Keras 3 do not work in graphs"):
        graphtrain.EstimatorSpec("eval", loss=loss, eval_metric_ops=metrics)
