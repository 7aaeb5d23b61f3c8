import functools
import pathlib

import numpy as np
import pytest
import tensorflow as tf
import tiny

import graphtrain
from graphtrain.distribute import local_cluster
from graphtrain.session import checkpoints, inputs

tf1 = tf.compat.v1


def minimal_spec(mode):
    loss = tf.square(tf1.get_variable("w", initializer=1.0))
    train_op = tf1.assign_add(tf1.train.get_global_step(), 1)
    return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)


class CallableModel:
    def __call__(self, features, labels, mode):
        return minimal_spec(mode)

    def method(self, features, labels, mode, config):
        return minimal_spec(mode)


def with_params(labels, features, params, mode):
    assert params == {"units": 3}
    return minimal_spec(mode)


MODEL_FNS = {
    "lambda": lambda features, labels: minimal_spec(graphtrain.ModeKeys.TRAIN),
    "object": CallableModel(),
    "method": CallableModel().method,
    "partial": functools.partial(with_params, params={"units": 3}),
    "keywords": lambda *, mode, features, **others: minimal_spec(mode),
}


@pytest.mark.parametrize("kind", MODEL_FNS)
def test_kinds_of_model_fns(tmp_path, kind):
    features = tiny.ones() if kind != "keywords" else lambda: tf.constant([1.0])
    estimator = graphtrain.Estimator(MODEL_FNS[kind], str(tmp_path))
    assert estimator.train(features, max_steps=1).last_train_result.global_step == 1


def test_params_are_copied_and_given(tmp_path):
    params = {"units": 3}
    estimator = graphtrain.Estimator(with_params, str(tmp_path), params=params)
    params["units"] = 4
    estimator.params["units"] = 5
    assert estimator.params == {"units": 3}
    estimator.train(tiny.ones(), max_steps=1)


def test_input_fns_get_what_they_ask_for(tmp_path):
    seen = {}

    def input_fn(params, mode, config):
        seen.update(units=params["units"], mode=mode, config=config)
        return tiny.ones()()

    estimator = graphtrain.Estimator(with_params, str(tmp_path), params={"units": 3})
    estimator.train(input_fn, max_steps=1)
    assert seen == {"units": 3, "mode": "train", "config": estimator.config}


def test_model_fns_that_cannot_be_called(tmp_path):
    for model_fn, params, message in [
        (None, None, "model_fn must be callable, got None"),
        (lambda labels: None, None, "must have an argument named features"),
        (lambda features, extra: None, None, "does not know: extra; it knows features"),
        (lambda features: None, {"a": 1}, r"no argument named params, .* params=\{'a': 1\}"),
    ]:
        with pytest.raises(graphtrain.UsageError, match=message):
            graphtrain.Estimator(model_fn, str(tmp_path), params=params)


def test_a_model_fn_without_labels_refuses_them(tmp_path):
    estimator = graphtrain.Estimator(lambda features: None, str(tmp_path))
    with pytest.raises(graphtrain.UsageError, match="takes no labels, but the input_fn returned"):
        estimator.train(tiny.ones(), max_steps=1)


def test_a_model_fn_must_return_a_spec(tmp_path):
    estimator = graphtrain.Estimator(lambda features, labels: {"loss": 1}, str(tmp_path))
    with pytest.raises(graphtrain.UsageError, match=r"must return an EstimatorSpec, got \{'loss'"):
        estimator.train(tiny.ones(), max_steps=1)


def test_model_dir_in_either_place(tmp_path):
    directory, other = str(tmp_path / "a"), str(tmp_path / "b")
    config = graphtrain.RunConfig(model_dir=directory)
    model_fn = MODEL_FNS["lambda"]
    assert graphtrain.Estimator(model_fn, config=config).model_dir == directory
    assert graphtrain.Estimator(model_fn, directory, config).model_dir == directory
    assert graphtrain.Estimator(model_fn, pathlib.Path(other)).config.model_dir == other
    with pytest.raises(graphtrain.UsageError, match="but .*a' in the RunConfig: give it once"):
        graphtrain.Estimator(model_fn, other, config)
    with pytest.raises(graphtrain.UsageError, match="config must be a RunConfig, got 3"):
        graphtrain.Estimator(model_fn, other, 3)


def test_a_temporary_model_dir(caplog):
    estimator = graphtrain.Estimator(MODEL_FNS["lambda"])
    assert pathlib.Path(estimator.model_dir).is_dir()
    assert f"no model_dir was given, using the temporary {estimator.model_dir}" in caplog.text
    pathlib.Path(estimator.model_dir).rmdir()


def test_making_an_estimator_makes_no_directory(tmp_path):
    graphtrain.Estimator(MODEL_FNS["lambda"], str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_variables_of_the_newest_checkpoint(tmp_path):
    estimator = tiny.halving(tmp_path)
    with pytest.raises(graphtrain.UsageError, match="no checkpoint in .*: train first"):
        estimator.get_variable_names()
    assert estimator.latest_checkpoint() is None
    estimator.train(tiny.ones(), max_steps=2)
    assert estimator.get_variable_value("w") == 0.25
    with pytest.raises(graphtrain.UsageError, match="no variable 'v' in .*global_step, w"):
        estimator.get_variable_value("v")


def test_the_model_fn_property_calls_it(graph, tmp_path):
    tf1.train.create_global_step()
    estimator = graphtrain.Estimator(with_params, str(tmp_path), params={"units": 3})
    spec = estimator.model_fn(None, None, "train", estimator.config)
    assert spec.mode == "train"


def test_arrays_stay_out_of_the_graph_file(tmp_path):
    array = np.ones([2**20], np.float32)

    def input_fn():
        rows = inputs.feed_at_initialization(tf1.placeholder(tf.float32, [None]), array)
        batches = tf.data.Dataset.from_tensor_slices(rows).batch(2**17)
        return batches.map(lambda batch: (batch, tf.zeros_like(batch)))

    estimator = tiny.halving(tmp_path).train(input_fn, max_steps=4)
    assert estimator.get_variable_value("w") == 1 / 16
    assert (tmp_path / "graph.pbtxt").stat().st_size < 1_000_000
    assert estimator.evaluate(input_fn)["error"] == 1 / 16


def test_a_subclass_and_a_config_of_ones_own(tmp_path):
    class Config(graphtrain.RunConfig):
        greeting = "hello"

    class Own(graphtrain.Estimator):
        def __init__(self, model_dir):
            super().__init__(tiny.halving_model_fn, model_dir, Config(), params={})

    estimator = Own(str(tmp_path)).train(tiny.ones(), max_steps=1)
    assert estimator.config.greeting == "hello"


class ActsAtRun(tf1.train.SessionRunHook):
    def __init__(self, run, act):
        self._left, self._act = run, act

    def after_run(self, run_context, run_values):
        self._left -= 1
        if self._left == 0:
            self._act()


def test_a_hook_requests_a_stop(tmp_path):
    estimator = tiny.halving(tmp_path)
    hook = ActsAtRun(4, lambda: estimator.request_stop("good enough"))
    estimator.train(tiny.ones(), hooks=[hook])
    result = estimator.last_train_result
    assert (result.global_step, result.reason) == (4, "stop_requested")
    assert result.stop_reason == "good enough"
    assert estimator.latest_checkpoint() == f"{tmp_path}/model.ckpt-4"


def test_a_hook_saves_now(tmp_path):
    estimator = tiny.halving(tmp_path, keep_checkpoint_max=2)
    saved = []
    hook = ActsAtRun(3, lambda: saved.append(estimator.save_now()))
    estimator.train(tiny.ones(), hooks=[hook], max_steps=5)
    assert saved == [f"{tmp_path}/model.ckpt-3"]
    assert checkpoints.kept(str(tmp_path)) == [f"{tmp_path}/model.ckpt-{i}" for i in (3, 5)]
    estimator.train(tiny.ones(), max_steps=6)
    assert checkpoints.kept(str(tmp_path)) == [f"{tmp_path}/model.ckpt-{i}" for i in (5, 6)]


def test_stopping_and_saving_are_for_the_time_of_training(tmp_path):
    estimator = tiny.halving(tmp_path)
    for _ in range(2):
        with pytest.raises(graphtrain.UsageError, match=r"request_stop\(\) is for the time that"):
            estimator.request_stop()
        with pytest.raises(graphtrain.UsageError, match=r"save_now\(\) is for the time that"):
            estimator.save_now()
        estimator.train(tiny.ones(), steps=1)


def test_workers_do_not_go_their_own_ways(tmp_path, monkeypatch):
    config = local_cluster.tf_configs(workers=2)["worker 1"]
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(graphtrain.UsageError, match="by the gradients of one worker"):
        tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)
