import os
import signal
import time

import pytest
import tensorflow as tf
import tiny

import graphtrain

tf1 = tf.compat.v1


def run(model_dir, *, max_steps, batches=None, hooks=None, every_steps=10, **eval_settings):
    estimator = tiny.halving(model_dir, save_checkpoints_steps=every_steps)
    return graphtrain.train_and_evaluate(
        estimator,
        graphtrain.TrainSpec(tiny.ones(batches), max_steps=max_steps, hooks=hooks),
        graphtrain.EvalSpec(tiny.ones(2), steps=None, **eval_settings),
    )


def test_every_checkpoint_is_evaluated_and_the_last_always(flow_mode, tmp_path):
    metrics, exports = run(tmp_path, max_steps=25)
    assert (metrics["global_step"], metrics["error"]) == (25, 2.0**-25)
    assert exports == []
    errors = tiny.scalars(tmp_path / "eval", "error")
    assert errors == [(10, 2.0**-10), (20, 2.0**-20), (25, 2.0**-25)]


def test_it_trains_in_one_session(tmp_path):
    created = []

    class Counter(tf1.train.SessionRunHook):
        def after_create_session(self, session, coord):
            created.append(1)

    run(tmp_path, max_steps=25, hooks=[Counter()])
    assert created == [1]


def test_a_last_step_that_was_due_is_evaluated_once(tmp_path):
    run(tmp_path, max_steps=20)
    assert [step for step, _ in tiny.scalars(tmp_path / "eval", "error")] == [10, 20]


def test_a_throttle_leaves_out_all_but_the_last(tmp_path):
    exporter = tiny.Recorder()
    run(tmp_path, max_steps=45, throttle_secs=10_000, exporters=exporter)
    assert [step for step, _ in tiny.scalars(tmp_path / "eval", "error")] == [10, 45]
    assert exporter.calls == [(10, False), (45, True)]


def test_no_throttle_is_none_at_all(tmp_path):
    run(tmp_path, max_steps=25, throttle_secs=0, start_delay_secs=10_000)
    assert [step for step, _ in tiny.scalars(tmp_path / "eval", "error")] == [10, 20, 25]


def test_the_reason_of_the_end_is_kept(tmp_path):
    estimator = tiny.halving(tmp_path)
    graphtrain.train_and_evaluate(
        estimator,
        graphtrain.TrainSpec(tiny.ones(3), max_steps=4.5),
        graphtrain.EvalSpec(tiny.ones(2)),
    )
    assert estimator.last_train_result.reason == "end_of_data"


def test_a_restart_goes_on(tmp_path):
    run(tmp_path, max_steps=15)
    run(tmp_path, max_steps=30)
    steps = [step for step, _ in tiny.scalars(tmp_path / "eval", "error")]
    assert steps == [10, 15, 20, 30]


def test_a_finished_run_changes_no_file(tmp_path):
    exporter = tiny.Recorder()
    run(tmp_path, max_steps=10)
    before = tiny.snapshot(tmp_path)
    assert run(tmp_path, max_steps=10, exporters=exporter) == (None, None)
    assert tiny.snapshot(tmp_path) == before
    assert exporter.calls == []


def test_exporters_are_told_which_is_the_last(tmp_path):
    exporter = tiny.Recorder()
    _, exports = run(tmp_path, max_steps=20, exporters=exporter)
    assert exporter.calls == [(10, False), (20, True)]
    assert exporter.last == (f"{tmp_path}/export/recorder", f"{tmp_path}/model.ckpt-20")
    assert exports == ["export 2"]


def test_the_end_of_the_data_is_a_last_one_too(tmp_path):
    exporter = tiny.Recorder()
    metrics, _ = run(tmp_path, max_steps=None, batches=15, exporters=[exporter])
    assert metrics["global_step"] == 15
    assert exporter.calls == [(10, False), (15, False), (15, True)]


def test_wrong_types(tmp_path):
    estimator = tiny.halving(tmp_path)
    train_spec, eval_spec = graphtrain.TrainSpec(tiny.ones()), graphtrain.EvalSpec(tiny.ones())
    with pytest.raises(TypeError, match="estimator must be a graphtrain.Estimator"):
        graphtrain.train_and_evaluate("estimator", train_spec, eval_spec)
    with pytest.raises(TypeError, match="train_spec must be a graphtrain.TrainSpec"):
        graphtrain.train_and_evaluate(estimator, eval_spec, eval_spec)
    with pytest.raises(TypeError, match="eval_spec must be a graphtrain.EvalSpec"):
        graphtrain.train_and_evaluate(estimator, train_spec, train_spec)


def test_without_checkpoints(tmp_path):
    estimator = tiny.halving(tmp_path, save_checkpoints_secs=None)
    with pytest.raises(graphtrain.UsageError, match="saving_listeners are called when"):
        graphtrain.train_and_evaluate(
            estimator,
            graphtrain.TrainSpec(tiny.ones(), max_steps=2),
            graphtrain.EvalSpec(tiny.ones(2)),
        )


class SendsSigterm(tf1.train.SessionRunHook):
    """Sends this process a SIGTERM at its third run."""

    def begin(self):
        self._runs = 0

    def after_run(self, run_context, run_values):
        self._runs += 1
        if self._runs == 3:
            os.kill(os.getpid(), signal.SIGTERM)
            # Signals are heard by another thread.
            time.sleep(0.05)


def test_a_signal_breaks_off_an_evaluation(tmp_path):
    estimator = tiny.halving(tmp_path, save_checkpoints_steps=10)
    eval_spec = graphtrain.EvalSpec(tiny.ones(100), steps=None, hooks=[SendsSigterm()])
    with graphtrain.saving_on_signals() as heard:
        metrics, _ = graphtrain.train_and_evaluate(
            estimator, graphtrain.TrainSpec(tiny.ones(), max_steps=40), eval_spec
        )
    assert metrics is None
    assert heard.received == "SIGTERM"
    assert estimator.last_train_result.stop_reason == "SIGTERM"
    assert estimator.latest_checkpoint().endswith(f"-{estimator.last_train_result.global_step}")
    assert estimator.last_train_result.global_step in (10, 11)
    assert not os.path.exists(estimator.eval_dir())
