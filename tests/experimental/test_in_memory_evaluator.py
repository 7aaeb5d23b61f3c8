import os

import pytest
import tiny_curve

from graphtrain import UsageError, evaluation_events
from graphtrain.estimator import experimental


def test_it_evaluates_the_variables_of_the_session(flow_mode, tmp_path):
    values = [float(index) for index in range(6)]
    estimator = tiny_curve.estimator(tmp_path, values, save_checkpoints_steps=1000)
    hook = experimental.InMemoryEvaluatorHook(
        estimator, tiny_curve.one_batch, name="now", every_n_iter=20
    )
    estimator.train(tiny_curve.input_fn, hooks=[hook], max_steps=50)
    metrics = evaluation_events.read_metrics(estimator.eval_dir("now"))
    assert {step: values["score"] for step, values in metrics.items()} == {
        0: 0,
        20: 2,
        40: 4,
        50: 5,
    }
    checkpoints = [name for name in os.listdir(tmp_path) if name.endswith(".index")]
    assert sorted(checkpoints) == ["model.ckpt-0.index", "model.ckpt-50.index"]


def test_the_last_step_is_evaluated_once(tmp_path):
    estimator = tiny_curve.estimator(tmp_path)
    calls = []

    def input_fn():
        calls.append(1)
        return tiny_curve.one_batch()

    hook = experimental.InMemoryEvaluatorHook(estimator, input_fn, steps=1, every_n_iter=2)
    estimator.train(tiny_curve.input_fn, hooks=[hook], max_steps=4)
    assert len(calls) == 3


def test_what_cannot_be_used(tmp_path):
    with pytest.raises(TypeError, match="estimator must be a graphtrain.Estimator"):
        experimental.InMemoryEvaluatorHook("estimator", tiny_curve.one_batch)
    estimator = tiny_curve.estimator(tmp_path)
    with pytest.raises(UsageError, match="every_n_iter=0"):
        experimental.InMemoryEvaluatorHook(estimator, tiny_curve.one_batch, every_n_iter=0)


def test_parameter_servers_are_refused(tmp_path, monkeypatch):
    tiny_curve.as_worker(monkeypatch)
    with pytest.raises(UsageError, match="cannot be used with parameter servers"):
        experimental.InMemoryEvaluatorHook(tiny_curve.estimator(tmp_path), tiny_curve.one_batch)
