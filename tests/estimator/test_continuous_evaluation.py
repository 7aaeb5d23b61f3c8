import json

import pytest
import tiny

import graphtrain
from graphtrain.distribute import tf_config
from graphtrain.estimator import end_of_training
from graphtrain.estimator.continuous_evaluation import ContinuousEvaluation
from graphtrain.session import checkpoint_files, signals

EVALUATOR = tf_config.parse(json.dumps({"task": {"type": "evaluator", "index": 0}}))


class Beside:
    """An evaluator, and a clock on whose seconds a trainer does things.

    Args:
      model_dir: path.
      events: dict from a second to what the trainer does then, a function.
    """

    def __init__(self, model_dir, events, *, max_steps=None, throttle_secs=None, delay_secs=0):
        self.model_dir, self.events, self.now = model_dir, dict(events), 0
        self.exporter = tiny.Recorder()
        config = graphtrain.RunConfig(model_dir, cluster=EVALUATOR, start_timeout_secs=100)
        estimator = graphtrain.Estimator(tiny.halving_model_fn, config=config, params={})
        spec = graphtrain.EvalSpec(
            tiny.ones(2),
            steps=None,
            exporters=[self.exporter],
            start_delay_secs=delay_secs,
            throttle_secs=throttle_secs,
        )
        self.evaluation = ContinuousEvaluation(
            estimator, spec, max_steps, clock=lambda: self.now, sleep=self.sleep
        )

    def sleep(self, secs):
        assert secs == 1 and self.now < 1000
        self.now += 1
        self.events.pop(self.now, lambda: None)()

    def train_to(self, step):
        tiny.halving(self.model_dir, save_checkpoints_steps=10).train(tiny.ones(), max_steps=step)

    def announce(self, step=20):
        end_of_training.announce(str(self.model_dir), step, "end_of_data")

    def run(self):
        result = self.evaluation.run()
        assert not self.events
        return result


def test_each_checkpoint_is_evaluated_and_the_last_is_final(tmp_path):
    beside = Beside(tmp_path, {})
    beside.events = {
        3: lambda: beside.train_to(10),
        6: lambda: beside.train_to(25),
        9: beside.announce,
    }
    metrics, exported = beside.run()
    assert (metrics["global_step"], metrics["error"], exported) == (
        25,
        2.0**-25,
        ["export 4"],
    )
    assert beside.exporter.calls == [(10, False), (20, False), (25, False), (25, True)]
    assert [step for step, _ in tiny.scalars(tmp_path / "eval", "error")] == [10, 20, 25]


def test_a_training_that_is_over_already_is_evaluated_at_once(tmp_path):
    beside = Beside(tmp_path, {}, max_steps=20, delay_secs=120)
    beside.train_to(20)
    beside.announce()
    metrics, exported = beside.run()
    assert (metrics["global_step"], exported, beside.now) == (20, ["export 2"], 0)
    assert beside.exporter.calls == [(10, False), (20, True)]


def test_without_a_word_max_steps_must_have_been_reached_for_a_while(tmp_path):
    beside = Beside(tmp_path, {}, max_steps=20)
    beside.train_to(20)
    metrics, _ = beside.run()
    assert (metrics["global_step"], beside.now) == (20, 10)


def test_what_an_earlier_training_said_does_not_end_the_next(tmp_path):
    beside = Beside(tmp_path, {})
    beside.train_to(10)
    beside.announce()
    beside.events = {50: lambda: (end_of_training.retract(str(tmp_path)), beside.train_to(20))}
    beside.events[300] = beside.announce
    assert beside.run()[0]["global_step"] == 20


def test_nor_does_it_keep_the_evaluator_for_ever(tmp_path):
    beside = Beside(tmp_path, {})
    beside.train_to(10)
    beside.announce()
    assert beside.run()[0]["global_step"] == 10
    assert beside.now == 100


def test_a_throttle_leaves_checkpoints_out_but_not_the_last(tmp_path):
    beside = Beside(tmp_path, {}, throttle_secs=20)
    beside.events = {
        second: lambda step=10 * second: beside.train_to(step) for second in range(1, 6)
    }
    beside.events[7] = beside.announce
    beside.run()
    assert beside.exporter.calls == [(10, False), (50, True)]


def test_a_checkpoint_that_is_deleted_under_it_is_passed_over(tmp_path, monkeypatch):
    beside = Beside(tmp_path, {})
    evaluate, deleted = graphtrain.Estimator.evaluate, []

    def delete_first(self, *args, checkpoint_path, **kwargs):
        if not deleted:
            deleted.append(checkpoint_path)
            beside.train_to(20)
            checkpoint_files.remove(checkpoint_path)
        return evaluate(self, *args, checkpoint_path=checkpoint_path, **kwargs)

    monkeypatch.setattr(graphtrain.Estimator, "evaluate", delete_first)
    beside.train_to(10)
    beside.events = {30: beside.announce}
    assert beside.run()[0]["global_step"] == 20
    assert deleted[0].endswith("-10")
    assert beside.exporter.calls == [(20, False), (20, True)]


def test_a_signal_ends_it(tmp_path, monkeypatch):
    beside = Beside(tmp_path, {})
    beside.events = {5: lambda: monkeypatch.setattr(signals, "requested_stop", lambda: "SIGTERM")}
    with pytest.raises(signals.Interrupted, match="the evaluation was broken off by SIGTERM"):
        beside.run()


def test_no_checkpoint_at_all(tmp_path):
    beside = Beside(tmp_path, {})
    beside.events = {4: beside.announce}
    assert beside.run() == (None, None)


def test_an_evaluator_evaluates_in_train_and_evaluate(tmp_path):
    tiny.halving(tmp_path).train(tiny.ones(), max_steps=5)
    end_of_training.announce(str(tmp_path), 5, "max_steps")
    config = graphtrain.RunConfig(tmp_path, cluster=EVALUATOR)
    estimator = graphtrain.Estimator(tiny.halving_model_fn, config=config, params={})
    metrics, _ = graphtrain.train_and_evaluate(
        estimator,
        graphtrain.TrainSpec(tiny.ones(), max_steps=5),
        graphtrain.EvalSpec(tiny.ones(2), steps=None),
    )
    assert metrics["global_step"] == 5
    with pytest.raises(graphtrain.UsageError, match="An evaluator trains nothing"):
        estimator.train(tiny.ones(), max_steps=9)
