import logging
import pathlib

import pytest
import tensorflow as tf
import tiny

import graphtrain

tf1 = tf.compat.v1


def three_batches():
    return tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])).batch(1)


@pytest.fixture
def estimator(tmp_path):
    """Trained for one step: w = 1/2."""
    return tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)


def test_metrics_over_all_batches(graph_mode, tmp_path):
    estimator = tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)
    metrics = estimator.evaluate(three_batches)
    assert metrics.pop("loss") == pytest.approx((0.25 + 1 + 2.25) / 3)
    assert metrics == {"error": 1.0, "global_step": 1}


def test_so_many_batches(estimator):
    assert estimator.evaluate(three_batches, steps=2)["error"] == 0.75
    with pytest.raises(graphtrain.UsageError, match="steps=0 cannot be used"):
        estimator.evaluate(three_batches, steps=0)


def test_a_certain_checkpoint(estimator, tmp_path):
    first = f"{tmp_path}/model.ckpt-0"
    metrics = estimator.evaluate(three_batches, checkpoint_path=first)
    assert (metrics["error"], metrics["global_step"]) == (2.0, 0)


def test_initial_values_where_there_is_no_checkpoint(tmp_path):
    assert tiny.halving(tmp_path).evaluate(three_batches)["error"] == 2.0


def test_event_files_by_name(estimator, tmp_path):
    estimator.evaluate(three_batches)
    estimator.evaluate(three_batches, steps=1, name="short")
    estimator.train(tiny.ones(), max_steps=2).evaluate(three_batches)
    assert estimator.eval_dir() == f"{tmp_path}/eval"
    assert tiny.scalars(tmp_path / "eval", "error") == [(1, 1.0), (2, 0.5)]
    assert tiny.scalars(tmp_path / "eval_short", "error") == [(1, 0.5)]
    assert [step for step, _ in tiny.scalars(tmp_path / "eval", "loss")] == [1, 2]


def test_an_empty_input_is_an_error(estimator, tmp_path):
    with pytest.raises(graphtrain.UsageError, match="input of the evaluation is empty"):
        estimator.evaluate(tiny.ones(batches=0))
    assert not (tmp_path / "eval").exists()


@pytest.mark.parametrize("name", ["loss", "global_step"])
def test_reserved_names(tmp_path, name):
    def model_fn(features, labels, mode):
        metrics = {name: tf1.metrics.mean(features)}
        loss = tf.reduce_mean(features)
        return graphtrain.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    with pytest.raises(graphtrain.UsageError, match=f"cannot be named '{name}'"):
        graphtrain.Estimator(model_fn, str(tmp_path)).evaluate(three_batches)


def test_metrics_of_other_kinds(tmp_path):
    def model_fn(features, labels, mode):
        tf1.get_variable("w", initializer=1.0)
        pair = tf.stack([features[0], -features[0]])
        text = tf1.summary.scalar("inner", features[0])
        metrics = {
            "pair": tf1.metrics.mean_tensor(pair),
            "drawn": (text, tf.no_op()),
            "text": (tf.constant([b"a"]), tf.no_op()),
        }
        return graphtrain.EstimatorSpec(mode, loss=features[0], eval_metric_ops=metrics)

    def once():
        return (tf.constant([3.0]), tf.constant([0.0]))

    metrics = graphtrain.Estimator(model_fn, str(tmp_path)).evaluate(once, steps=1)
    assert metrics["pair"].tolist() == [3.0, -3.0]
    assert tiny.scalars(tmp_path / "eval", "drawn/0") == [(0, 3.0)]


def test_hooks_and_an_own_local_init_op(tmp_path):
    runs = []

    class Counter(tf1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            runs.append(1)

    def model_fn(features, labels, mode, params):
        local = tf1.get_local_variable("local", initializer=5.0)
        scaffold = tf1.train.Scaffold(local_init_op=local.initializer)
        spec = tiny.halving_model_fn(features + 0 * local, labels, mode, params)
        return spec._replace(scaffold=scaffold, evaluation_hooks=[Counter()])

    estimator = graphtrain.Estimator(model_fn, str(tmp_path), params={})
    assert estimator.evaluate(three_batches, hooks=[Counter()])["error"] == 2.0
    assert len(runs) == 6


def test_dropout_is_off_and_the_answer_repeats(tmp_path):
    config = graphtrain.RunConfig(tf_random_seed=1)
    estimator = graphtrain.Estimator(
        tiny.softmax_model_fn, str(tmp_path), config, params={"dropout": 0.5}
    ).train(tiny.points(), max_steps=20)
    first, second = (estimator.evaluate(tiny.points(batches=3)) for _ in range(2))
    assert first == second
    assert first["accuracy"] >= 2 / 3


def test_an_error_in_the_model_is_no_end_of_data(estimator):
    def model_fn(features, labels, mode):
        broken = tf1.py_func(lambda: next(iter(())), [], tf.float32, name="broken")
        return graphtrain.EstimatorSpec(mode, loss=broken + tf1.get_variable("w", initializer=1.0))

    with pytest.raises(tf.errors.OutOfRangeError, match="broken"):
        graphtrain.Estimator(model_fn, estimator.model_dir).evaluate(tiny.ones(batches=2))


def test_a_checkpoint_that_is_deleted_meanwhile(tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    estimator = tiny.halving(tmp_path, save_checkpoints_steps=1).train(tiny.ones(), max_steps=3)
    deleted = []

    def input_fn():
        if len(deleted) < 2:
            deleted.append(estimator.latest_checkpoint())
            for path in tmp_path.glob(f"{pathlib.Path(deleted[-1]).name}.*"):
                path.unlink()
        return tiny.ones(2)()

    assert estimator.evaluate(input_fn)["global_step"] == 1
    assert [path[-1] for path in deleted] == ["3", "2"]
    assert f"{tmp_path}/model.ckpt-3 was deleted before it was evaluated" in caplog.text


def test_an_error_that_is_no_deletion_goes_through(tmp_path):
    estimator = tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)
    with pytest.raises(graphtrain.UsageError, match="The input of the evaluation is empty"):
        estimator.evaluate(tiny.ones(0))
