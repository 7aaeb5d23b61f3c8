"""A mistake in a call of the library: an error that quotes it, and nothing changed on disk."""

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain import datasets, hooks, inputs
from graphtrain.export import receivers
from graphtrain.models.train_step import TrainSettings
from graphtrain.optimize import optimizers, schedules
from graphtrain.session.inputs import feed_at_initialization

tf1 = tf.compat.v1

NOTHING_READABLE = "No checkpoint in torn can be read: model.ckpt-5 ("


def sgd():
    return tf1.train.GradientDescentOptimizer(1.0)


def searched(**settings):
    return graphtrain.LineSearchOptimizer(sgd(), **settings)


def session(directory="run", **settings):
    return graphtrain.MonitoredTrainingSession(checkpoint_dir=directory, **settings)


def safe_session(**settings):
    return session(safety=graphtrain.SafetyConfig(**settings))


def ones():
    return tf.data.Dataset.from_tensors([1.0]).repeat()


def one_step_model_fn(features, mode):
    loss = tf.reduce_mean(tf1.get_variable("w", initializer=1.0) * features)
    train_op = tf1.assign_add(tf1.train.get_global_step(), 1)
    return graphtrain.EstimatorSpec(mode, loss, loss, train_op)


def estimator(model_fn=one_step_model_fn, model_dir="run", **settings):
    return graphtrain.Estimator(model_fn, model_dir, **settings)


def train(model_fn=one_step_model_fn, input_fn=ones, **settings):
    return estimator(model_fn).train(input_fn, **(settings or {"steps": 1}))


def train_with(**fields):
    """Trains by a model_fn that returns an EstimatorSpec of these fields."""

    def model_fn(features, mode):
        weight = tf1.get_variable("w", initializer=[1.0, 2.0])
        fields.setdefault("loss", tf.reduce_sum(weight))
        fields.setdefault("train_op", tf.no_op())
        return graphtrain.EstimatorSpec(mode, **fields)

    return train(model_fn)


def train_by_whole_weight():
    def model_fn(features, mode):
        weight = tf1.get_variable("w", initializer=[1.0, 2.0])
        return graphtrain.EstimatorSpec(mode, loss=weight, train_op=tf.no_op())

    return train(model_fn)


def pixels(*shape, dtype=np.uint8):
    return np.zeros(shape, dtype)


RUN_CONFIG = [
    (
        lambda: graphtrain.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1),
        "save_checkpoints_steps and save_checkpoints_secs cannot both be set, got 1 steps and 1.0",
    ),
    (
        lambda: graphtrain.RunConfig(save_checkpoints_secs=float("inf")),
        "save_checkpoints_secs=inf cannot be used: give a finite number >= 0",
    ),
    (
        lambda: graphtrain.RunConfig(keep_checkpoint_max=1.5),
        "keep_checkpoint_max=1.5 cannot be used: give a whole number >= 0",
    ),
    (
        lambda: graphtrain.RunConfig(session_config="placement"),
        "session_config must be a tf.compat.v1.ConfigProto, got 'placement'.",
    ),
    (
        lambda: graphtrain.RunConfig(steps_per_run="all"),
        "steps_per_run='all' cannot be used: give a whole number >= 1",
    ),
    (
        lambda: graphtrain.RunConfig(safety={"max_failed_saves": 1}),
        "safety must be a graphtrain.SafetyConfig, got {'max_failed_saves': 1}.",
    ),
    (
        lambda: graphtrain.RunConfig().replace(model_directory="x"),
        "RunConfig cannot replace model_directory; it can replace model_dir, tf_random_seed",
    ),
    (
        lambda: graphtrain.SafetyConfig(max_failed_saves="5"),
        "max_failed_saves='5' cannot be used: give a whole number >= 0",
    ),
    (
        lambda: graphtrain.SafetyConfig(learning_rate_on_resume="anew"),
        "learning_rate_on_resume='anew' cannot be used: choose one of 'keep', 'restart'",
    ),
    (
        lambda: graphtrain.SafetyConfig(save_input_position=None),
        "save_input_position must be True or False, got None",
    ),
]
OPTIMIZERS = [
    (
        lambda: graphtrain.LineSearchOptimizer("sgd"),
        "optimizer='sgd' cannot be searched: give a tf.compat.v1.train.Optimizer, such as",
    ),
    (lambda: searched(shrink=1), "shrink=1 cannot be used: give a finite number > 0 and < 1"),
    (lambda: searched(shrink=float("nan")), "shrink=nan cannot be used: give a finite number > 0"),
    (
        lambda: searched(min_scale=0),
        "min_scale=0 cannot be used: give a finite number > 0 and <= 1",
    ),
    (lambda: searched(condition="wolfe"), "condition='wolfe' cannot be used: choose one of 'decr"),
    (lambda: searched(first_scale="best"), "first_scale='best' cannot be used: choose one of 'con"),
    (lambda: searched(search_every=0), "search_every=0 cannot be used: give a whole number >= 1"),
    (lambda: searched(interpolation="linear"), "interpolation='linear' cannot be used: choose one"),
    (lambda: searched(on_failure="raise"), "on_failure='raise' cannot be used: choose one of 'res"),
    (lambda: searched(on_ascent=None), "on_ascent=None cannot be used: choose one of 'search', 'a"),
    (lambda: searched(on_nonfinite_loss="keep"), "on_nonfinite_loss='keep' cannot be used: choose"),
    (
        lambda: searched().minimize(tf.constant(1.0)),
        "The loss 'Const:0' does not depend on any of []: there is nothing to search over. Pass",
    ),
    (
        lambda: graphtrain.GradientAccumulationOptimizer(sgd(), steps=0),
        "steps=0 cannot be used: give a whole number >= 1",
    ),
    (
        lambda: graphtrain.MovingAverageOptimizer(sgd(), average_decay=1.0),
        "average_decay=1.0 cannot be used: give a finite number >= 0 and < 1",
    ),
    (
        lambda: optimizers.make("sdg", 0.1),
        "optimizer='sdg' cannot be used: choose one of 'sgd', 'momentum', 'nesterov', 'adam'",
    ),
    (
        lambda: optimizers.make("sgd", 0.1, momentum=0.9),
        "'momentum' is no setting of optimizer 'sgd': allowed: none",
    ),
]
RATES = [
    (lambda: schedules.constant(0), "learning_rate=0 cannot be used: give a finite number > 0"),
    (
        lambda: schedules.constant("fast"),
        "learning_rate='fast' cannot be used: give a finite number",
    ),
    (
        lambda: schedules.exponential(0.1, decay_steps=0.5, decay_rate=0.5),
        "decay_steps=0.5 cannot be used: give a whole number >= 1",
    ),
    (
        lambda: schedules.exponential(0.1, decay_steps=10, decay_rate=1.5),
        "decay_rate=1.5 cannot be used: give a finite number > 0 and <= 1",
    ),
    (
        lambda: schedules.piecewise([20, 10], [0.1, 0.2, 0.3]),
        "boundaries=[20, 10] cannot be used: give one step or more, each greater than the one",
    ),
    (
        lambda: schedules.piecewise([10], [0.1]),
        "learning_rates=[0.1] cannot be used with 1 boundaries: give 2 rates, one more than",
    ),
    (
        lambda: schedules.polynomial(0.1, decay_steps=5, end_learning_rate=0.2),
        "end_learning_rate=0.2 cannot be used: give a finite number >= 0 and <= 0.1",
    ),
    (
        lambda: schedules.cosine(0.1, decay_steps=5, alpha=2),
        "alpha=2 cannot be used: give a finite number >= 0 and <= 1",
    ),
    (
        lambda: schedules.linear_warmup(0.1, warmup_steps=5),
        "schedule=0.1 cannot be used: give a schedule, such as schedules.constant(0.1)",
    ),
    (
        lambda: TrainSettings.from_params({"lr": 0.1}),
        "params has unknown names ['lr']: allowed are optimizer, optimizer_settings, learning_rate",
    ),
]
ESTIMATOR = [
    (lambda: estimator(None), "model_fn must be callable, got None."),
    (lambda: estimator(lambda labels: 0), "must have an argument named features."),
    (
        lambda: estimator(lambda features, weights: 0),
        "has arguments that an Estimator does not know: weights; it knows features, labels, mode",
    ),
    (
        lambda: estimator(params={"a": 1}),
        "has no argument named params, but the Estimator was given params={'a': 1}.",
    ),
    (lambda: estimator(config={"a": 1}), "config must be a RunConfig, got {'a': 1}."),
    (
        lambda: estimator(config=graphtrain.RunConfig(model_dir="other")),
        "model_dir is 'run' as an argument, but 'other' in the RunConfig: give it once.",
    ),
    (
        lambda: estimator(warm_start_from=3),
        "warm_start_from must be a path or a WarmStartSettings, got 3.",
    ),
    (
        lambda: estimator(model_dir="new", warm_start_from="nothing").train(ones, steps=1),
        "There is no checkpoint to warm start from at 'nothing'.",
    ),
    (lambda: train(input_fn=None), "input_fn must be callable, got None."),
    (lambda: train(steps=1, max_steps=2), "steps and max_steps cannot both be set, got 1 and 2: s"),
    (lambda: train(steps=0), "steps=0 cannot be used: give a whole number >= 1"),
    (lambda: train(hooks=["mine"]), "hooks must be SessionRunHook instances, got 'mine'."),
    (lambda: estimator().evaluate(ones, steps=-1), "steps=-1 cannot be used: give a whole number"),
    (
        lambda: estimator(model_dir="new").export_saved_model("out", lambda: None),
        "There is no checkpoint in new to export: train first.",
    ),
    (
        lambda: estimator().export_saved_model("out", "mine"),
        "serving_input_receiver_fn must be callable, got 'mine'.",
    ),
    (
        lambda: estimator().get_variable_value("v"),
        "There is no variable 'v' in run/model.ckpt-1; there are global_step, w.",
    ),
    (lambda: estimator().request_stop(), "request_stop() is for the time that train() runs, which"),
    (lambda: estimator(model_dir="torn").train(ones, steps=1), NOTHING_READABLE),
    (lambda: graphtrain.TrainSpec(None, 1), "input_fn must be callable, got None."),
    (lambda: graphtrain.TrainSpec(ones, -1), "max_steps=-1 cannot be used: give a finite number"),
    (
        lambda: graphtrain.EvalSpec(ones, steps=0),
        "steps=0 cannot be used: give a finite number > 0",
    ),
    (
        lambda: graphtrain.train_and_evaluate("mine", None, None),
        "estimator must be a graphtrain.Estimator, got 'mine'.",
    ),
    (lambda: graphtrain.BestExporter(), "serving_input_receiver_fn must be given, got None."),
    (
        lambda: receivers.ServingInputReceiver(None, None),
        "features must be given, got None.",
    ),
]
MODEL_FN = [
    (lambda: train(lambda features: None), "A model_fn must return an EstimatorSpec, got None."),
    (train_by_whole_weight, "The loss must be a scalar, got shape (2,) of 'w:0': reduce it over"),
    (lambda: train_with(loss=None), "Missing loss: mode 'train' needs one."),
    (lambda: train_with(loss="small"), "loss must be a tensor, got 'small'."),
    (lambda: train_with(train_op=None), "Missing train_op: mode 'train' needs one."),
    (lambda: train_with(train_op=7), "train_op must be an operation or a tensor, got 7."),
    (lambda: train_with(predictions="seven"), "predictions must be a tensor, got 'seven'."),
    (
        lambda: train_with(eval_metric_ops={"accuracy": 1.0}),
        "eval_metric_ops['accuracy'] must be a tuple (value, update_op), as tf.compat.v1.metrics",
    ),
    (lambda: train_with(training_hooks=[3]), "training_hooks must be SessionRunHook instances, go"),
    (
        lambda: train_with(scaffold="mine"),
        "scaffold must be a tf.compat.v1.train.Scaffold, got 'mine'.",
    ),
    (
        lambda: graphtrain.EstimatorSpec("training"),
        "mode='training' cannot be used: choose one of 'train', 'eval', 'infer'",
    ),
]
INPUT = [
    (
        lambda: train(input_fn=lambda: (1, 2, 3)),
        "An input_fn must return (features, labels) or features, got a tuple of 3: (1, 2, 3).",
    ),
    (
        lambda: train(input_fn=lambda: (tf.ones([2]), tf.ones([2]))),
        "takes no labels, but the input_fn returned some.",
    ),
    (lambda: inputs.numpy_input_fn({}, shuffle=False), "x cannot be an empty dict."),
    (
        lambda: inputs.numpy_input_fn({"x": np.ones(3)}, np.ones(4), shuffle=False),
        "All elements of x and y must have the same length, one entry for each example, got the",
    ),
    (
        lambda: inputs.numpy_input_fn({"x": np.ones(3)}, batch_size=0, shuffle=False),
        "batch_size=0 cannot be used: give a whole number >= 1",
    ),
    (
        lambda: datasets.image_input_fn(pixels(2, 28, 28, dtype=float), batch_size=1),
        "images of type float64 and shape (2, 28, 28) cannot be used: give uint8 [n, 28, 28], with",
    ),
    (
        lambda: datasets.image_input_fn(pixels(2, 28, 28), pixels(3), batch_size=1),
        "3 labels cannot be used with 2 images: give one for each",
    ),
    (
        lambda: feed_at_initialization(tf1.placeholder(tf.float32, [3]), np.ones(4, np.float32)),
        "The placeholder 'Placeholder:0' of float32 and shape (3,) cannot take an array of float32",
    ),
]
SESSION = [
    (
        lambda: session(save_checkpoint_steps=1, save_checkpoint_secs=1),
        "save_checkpoint_steps and save_checkpoint_secs cannot both be set, got 1 steps and 1 secs",
    ),
    (
        lambda: session(save_summaries_steps=1, save_summaries_secs=1),
        "save_summaries_steps and save_summaries_secs cannot both be set, got 1 steps and 1 secs",
    ),
    (
        lambda: safe_session(on_not_finite="roll_back"),
        "on_not_finite='roll_back' makes the learning rate smaller, but the graph's has no factor",
    ),
    (
        lambda: safe_session(learning_rate_on_resume="restart"),
        "learning_rate_on_resume='restart' needs a learning rate that is a function of graphtrain.",
    ),
    (
        lambda: graphtrain.MonitoredTrainingSession(hooks=[hooks.PlateauHook()]),
        "PlateauHook changes graphtrain.learning_rate_scale(), by which the learning rate is to be",
    ),
    (lambda: session("torn"), NOTHING_READABLE),
    (
        lambda: graphtrain.MonitoredTrainingSession().save_now(),
        "save_now() needs a session that was made with a checkpoint_dir.",
    ),
    (
        lambda: hooks.ProfileHook("run", first_step=5, last_step=4),
        "last_step=4 cannot be used: it is before first_step=5",
    ),
    (
        lambda: hooks.LineSearchHook(searched()),
        "has made no searched step yet: call minimize of a LineSearchOptimizer, then make the hook",
    ),
    (
        lambda: hooks.PlateauHook(factor=2),
        "factor=2 cannot be used: give a finite number > 0 and < 1",
    ),
    (
        lambda: graphtrain.saving_on_signals(patience_secs=0).__enter__(),
        "patience_secs=0 cannot be used: give a finite number > 0",
    ),
]
BAD_CALLS = [
    *RUN_CONFIG,
    *OPTIMIZERS,
    *RATES,
    *ESTIMATOR,
    *MODEL_FN,
    *INPUT,
    *SESSION,
]


def files_in(directory):
    """Every file below a directory, with its content and the time of its last change."""
    paths = [path for path in directory.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A directory with a run of one step, and one whose only checkpoint is torn."""
    directory = tmp_path_factory.mktemp("calls")
    estimator(model_dir=str(directory / "run")).train(ones, steps=1)
    (directory / "torn").mkdir()
    (directory / "torn" / "model.ckpt-5.index").write_bytes(b"half an ind")
    return directory


@pytest.mark.parametrize(("call", "message"), BAD_CALLS, ids=[text for _, text in BAD_CALLS])
def test_a_bad_call(directory, graph, monkeypatch, call, message):
    monkeypatch.chdir(directory)
    before = files_in(directory)
    # As in tf.estimator, what is of a wrong type is a TypeError.
    with pytest.raises((graphtrain.UsageError, TypeError)) as caught:
        call()
    assert message in str(caught.value)
    assert files_in(directory) == before
