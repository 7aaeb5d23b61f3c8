import logging

import numpy as np
import pytest
import tensorflow as tf
import tiny

import graphtrain

tf1 = tf.compat.v1


class Recorder(tf1.train.SessionRunHook):
    def __init__(self):
        self.runs = 0
        self.ended = False

    def after_run(self, run_context, run_values):
        self.runs += 1

    def end(self, session):
        self.ended = True


class ListenerOfSteps(tf1.train.CheckpointSaverListener):
    def __init__(self):
        self.saved = []

    def after_save(self, session, global_step_value):
        self.saved.append(global_step_value)


def index_files(directory):
    return sorted(int(path.stem.split("-")[1]) for path in directory.glob("*.index"))


def test_trains_up_to_max_steps(graph_mode, tmp_path):
    estimator = tiny.halving(tmp_path)
    assert estimator.train(tiny.ones(), max_steps=3) is estimator
    result = estimator.last_train_result
    assert (result.global_step, result.loss, result.reason) == (3, 1 / 16, "max_steps")
    assert estimator.get_variable_value("w") == 1 / 8
    assert estimator.get_variable_names() == ["global_step", "w"]
    assert estimator.latest_checkpoint() == f"{tmp_path}/model.ckpt-3"


def test_trains_so_many_steps_more(tmp_path):
    estimator = tiny.halving(tmp_path)
    for expected in (100, 200, 300):
        estimator.train(tiny.ones(), steps=100)
        assert estimator.last_train_result.global_step == expected


def test_trains_to_the_end_of_the_data(tmp_path):
    estimator = tiny.halving(tmp_path).train(tiny.ones(batches=4), max_steps=9)
    assert estimator.last_train_result.reason == "end_of_data"
    assert estimator.last_train_result.global_step == 4


@pytest.mark.parametrize("max_steps", [5, 3])
def test_a_finished_run_changes_no_file(tmp_path, max_steps, caplog):
    estimator = tiny.halving(tmp_path).train(tiny.ones(), max_steps=5)
    before = tiny.snapshot(tmp_path)
    with caplog.at_level(logging.INFO, "tensorflow"):
        tiny.halving(tmp_path).train(tiny.ones(), max_steps=max_steps)
        estimator.train(tiny.ones(), max_steps=max_steps)
    assert tiny.snapshot(tmp_path) == before
    assert f"nothing to train: {tmp_path} is at step 5, max_steps is {max_steps}" in caplog.text
    result = estimator.last_train_result
    assert (result.global_step, result.loss, result.reason) == (5, None, "max_steps")


def test_limits_that_make_no_sense(tmp_path):
    estimator = tiny.halving(tmp_path)
    with pytest.raises(graphtrain.UsageError, match="cannot both be set, got 1 and 2"):
        estimator.train(tiny.ones(), steps=1, max_steps=2)
    for limits in ({"steps": 0}, {"max_steps": -1}, {"steps": 1.5}):
        with pytest.raises(graphtrain.UsageError, match="whole number >= 1"):
            estimator.train(tiny.ones(), **limits)
    with pytest.raises(TypeError, match="input_fn must be callable"):
        estimator.train(None)
    assert estimator.last_train_result is None


def trained_arrays(directory, parts, *, seed=5, dropout=None):
    """The variables after training `sum(parts)` steps, a new Estimator for each part."""
    for steps in parts:
        config = graphtrain.RunConfig(tf_random_seed=seed)
        estimator = graphtrain.Estimator(
            tiny.softmax_model_fn, str(directory), config, {"dropout": dropout}
        )
        estimator.train(tiny.points(), steps=steps)
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def assert_equal_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_resumed_run_equals_an_unbroken_one(flow_mode, tmp_path):
    unbroken = trained_arrays(tmp_path / "one", [20])
    assert "weights/Adam_1" in unbroken and "beta2_power" in unbroken
    assert_equal_bits(unbroken, trained_arrays(tmp_path / "two", [10, 10]))


def test_the_seed_decides_the_run(tmp_path):
    first = trained_arrays(tmp_path / "a", [5], dropout=0.5)
    assert_equal_bits(first, trained_arrays(tmp_path / "b", [5], dropout=0.5))
    other = trained_arrays(tmp_path / "c", [5], seed=6, dropout=0.5)
    assert not np.array_equal(first["weights"], other["weights"])


def test_saves_by_steps_and_keeps_the_newest(tmp_path):
    config = {"save_checkpoints_steps": 10, "keep_checkpoint_max": 2}
    tiny.halving(tmp_path, **config).train(tiny.ones(), max_steps=25)
    assert index_files(tmp_path) == [20, 25]
    tiny.halving(tmp_path, **config).train(tiny.ones(), max_steps=40)
    assert index_files(tmp_path) == [30, 40]
    assert str(tmp_path) not in (tmp_path / "checkpoint").read_text()


def test_saves_nothing_if_told_so(tmp_path):
    tiny.halving(tmp_path, save_checkpoints_secs=None).train(tiny.ones(), max_steps=3)
    assert index_files(tmp_path) == []


def test_listeners_hear_of_each_save(tmp_path):
    listener = ListenerOfSteps()
    tiny.halving(tmp_path, save_checkpoints_steps=2).train(
        tiny.ones(), max_steps=5, saving_listeners=[listener]
    )
    assert listener.saved == [0, 2, 4, 5]


def test_listeners_need_saves(tmp_path):
    with pytest.raises(graphtrain.UsageError, match="saving_listeners are called when"):
        tiny.halving(tmp_path, save_checkpoints_secs=None).train(
            tiny.ones(), max_steps=5, saving_listeners=[ListenerOfSteps()]
        )


def test_the_users_saver_hook_takes_the_place_of_ours(tmp_path):
    listener = ListenerOfSteps()
    hook = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=3)
    tiny.halving(tmp_path, save_checkpoints_steps=2).train(
        tiny.ones(), hooks=[hook], max_steps=7, saving_listeners=[listener]
    )
    assert listener.saved == [0, 3, 6, 7]


def test_all_hooks_of_the_spec_run(tmp_path):
    hooks = [Recorder() for _ in range(3)]

    def model_fn(features, labels, mode):
        spec = tiny.halving_model_fn(features, labels, mode, {})
        return spec._replace(training_hooks=[hooks[0]], training_chief_hooks=[hooks[1]])

    graphtrain.Estimator(model_fn, str(tmp_path)).train(tiny.ones(), hooks=[hooks[2]], max_steps=4)
    assert [(hook.runs, hook.ended) for hook in hooks] == [(4, True)] * 3


def test_a_hook_can_stop_the_training(tmp_path):
    hook = tf1.train.StopAtStepHook(last_step=4)
    estimator = tiny.halving(tmp_path).train(tiny.ones(), hooks=[hook], max_steps=9)
    assert estimator.last_train_result.reason == "stop_requested"
    assert estimator.latest_checkpoint().endswith("ckpt-4")


def test_a_loss_that_is_nan_ends_the_run(tmp_path):
    with pytest.raises(tf1.train.NanLossDuringTrainingError):
        tiny.halving(tmp_path, params={"learning_rate": float("inf")}).train(
            tiny.ones(), max_steps=9
        )


def test_each_step_is_in_the_event_files_once(tmp_path):
    config = {"save_summary_steps": 5, "log_step_count_steps": 5}
    for max_steps in (10, 20):
        tiny.halving(tmp_path, **config).train(tiny.ones(), max_steps=max_steps)
    losses = tiny.scalars(tmp_path, "loss")
    # The first step of each of the two runs, and the multiples of 5.
    steps = (1, 5, 10, 11, 15, 20)
    assert losses == [(step, 4.0 ** (1 - step)) for step in steps]
    rates = [step for step, _ in tiny.scalars(tmp_path, "global_step/sec")]
    assert rates == [5, 10, 15, 20]


def test_a_short_run_leaves_its_points(tmp_path):
    tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)
    assert tiny.scalars(tmp_path, "loss") == [(1, 1.0)]


def test_the_users_step_counter_takes_the_place_of_ours(tmp_path):
    hook = tf1.train.StepCounterHook(every_n_steps=4, output_dir=str(tmp_path))
    tiny.halving(tmp_path, log_step_count_steps=2).train(tiny.ones(), hooks=[hook], max_steps=9)
    assert [step for step, _ in tiny.scalars(tmp_path, "global_step/sec")] == [5, 9]


def test_summaries_run_only_when_they_are_written(tmp_path):
    calls = []

    def model_fn(features, labels, mode, params):
        spec = tiny.halving_model_fn(features, labels, mode, params)
        counted = tf1.py_func(lambda: np.float32(calls.append(1) or 7), [], tf.float32)
        tf1.summary.scalar("counted", counted)
        return spec

    config = graphtrain.RunConfig(save_summary_steps=10)
    graphtrain.Estimator(model_fn, str(tmp_path), config, {}).train(tiny.ones(), max_steps=100)
    assert len(calls) == 11
    assert [step for step, _ in tiny.scalars(tmp_path, "counted")] == [1, *range(10, 101, 10)]


@pytest.mark.parametrize("summarized", [True, False])
def test_the_loss_is_called_loss(tmp_path, summarized):
    def model_fn(features, labels, mode):
        spec = tiny.halving_model_fn(features, labels, mode, {})
        loss = tf.identity(spec.loss, name="elsewhere" if summarized else "loss")
        if summarized:
            tf1.summary.scalar("loss", loss)
        return spec._replace(loss=loss)

    graphtrain.Estimator(model_fn, str(tmp_path)).train(tiny.ones(), max_steps=1)
    assert tiny.scalars(tmp_path, "loss") == [(1, 1.0)]


def test_the_log_tells_the_loss(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "tensorflow"):
        tiny.halving(tmp_path, log_step_count_steps=2).train(tiny.ones(), max_steps=3)
    assert "loss = 1.0, step = 1" in caplog.text
    assert "loss = 0.25, step = 2" in caplog.text
    assert "training ended at step 3 (max_steps), last loss 0.0625" in caplog.text


def averaging_model_fn(asked):
    """A model_fn with a moving mean of momentum 0.5, updated by the user only if `asked`."""

    def model_fn(features, labels, mode):
        mean = tf1.get_variable("norm/moving_mean", initializer=0.0, trainable=False)
        update = tf1.assign_add(mean, 0.5 * (tf.reduce_mean(features) - mean))
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
        weight = tf1.get_variable("w", initializer=1.0)
        loss = tf.square(weight)
        with tf.control_dependencies([update] if asked else []):
            optimizer = tf1.train.GradientDescentOptimizer(0.1)
            train_op = optimizer.minimize(loss, tf1.train.get_global_step())
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


@pytest.mark.parametrize("asked", [True, False])
def test_update_ops_run_once_a_step(graph_mode, tmp_path, asked, caplog):
    estimator = graphtrain.Estimator(averaging_model_fn(asked), str(tmp_path))
    estimator.train(lambda: (tf.constant([10.0]), tf.constant([0.0])), max_steps=2)
    assert estimator.get_variable_value("norm/moving_mean") == 7.5
    assert "no step of the training updates" not in caplog.text


def test_averages_that_stand_still_are_named(tmp_path, caplog):
    def model_fn(features, labels, mode):
        normalized = tf.keras.layers.BatchNormalization(name="norm")(features, training=True)
        weight = tf1.get_variable("w", initializer=1.0)
        loss = tf.reduce_mean(tf.square(weight * normalized))
        optimizer = tf1.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf1.train.get_global_step(), var_list=[weight])
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    graphtrain.Estimator(model_fn, str(tmp_path)).train(
        lambda: (tf.ones([4, 2]), tf.zeros([4])), max_steps=1
    )
    assert "no step of the training updates norm/moving_mean, norm/moving_variance" in caplog.text


def test_a_train_op_that_does_not_advance_the_step(tmp_path):
    def model_fn(features, labels, mode):
        loss = tf.square(tf1.get_variable("w", initializer=1.0))
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    with pytest.raises(graphtrain.UsageError, match="from 0 to 0; it must rise by exactly 1"):
        graphtrain.Estimator(model_fn, str(tmp_path)).train(tiny.ones(), max_steps=9)


def test_a_second_global_step_is_named(tmp_path):
    def model_fn(features, labels, mode):
        own = tf1.get_variable("own_step", initializer=0, trainable=False)
        tf1.add_to_collection(tf1.GraphKeys.GLOBAL_STEP, own)
        loss = tf.square(tf1.get_variable("w", initializer=1.0))
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, own)
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    with pytest.raises(graphtrain.UsageError, match="'global_step:0' .* and 'own_step:0'"):
        graphtrain.Estimator(model_fn, str(tmp_path)).train(tiny.ones(), max_steps=9)


def test_an_empty_input_is_an_error_that_names_the_shard(tmp_path):
    message = "before the first training step. The empty input is that of worker 0 of 1"
    with pytest.raises(graphtrain.UsageError, match=message):
        tiny.halving(tmp_path).train(tiny.ones(batches=0), max_steps=9)


def test_the_users_scaffold_is_honoured(tmp_path):
    def model_fn(features, labels, mode, params):
        spec = tiny.halving_model_fn(features, labels, mode, params)
        weight = tf1.global_variables("w")[0]
        scaffold = tf1.train.Scaffold(
            init_fn=lambda scaffold, session: weight.load(4.0, session),
            saver=tf1.train.Saver(max_to_keep=1),
        )
        return spec._replace(scaffold=scaffold)

    config = graphtrain.RunConfig(save_checkpoints_steps=1)
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), config, {})
    estimator.train(tiny.ones(), max_steps=2)
    assert estimator.get_variable_value("w") == 1.0
    assert index_files(tmp_path) == [2]
