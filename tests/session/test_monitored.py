import logging
import os
import shutil

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints, inputs

tf1 = tf.compat.v1


class RunsAfterCreation(tf1.train.SessionRunHook):
    def __init__(self, op):
        self._op = op

    def after_create_session(self, session, coord):
        session.run(self._op)


class Names(tf1.train.SessionRunHook):
    def __init__(self, name, created):
        self._name, self._created = name, created

    def after_create_session(self, session, coord):
        self._created.append(self._name)


def train(directory, *, steps, **settings):
    """Counts the global step up by `steps` in a fresh graph; returns the steps it saw."""
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory), **settings
        ) as session:
            return [int(session.run(train_op)) for _ in range(steps)]


def test_a_restart_continues_and_says_so(tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    assert train(tmp_path, steps=30) == list(range(1, 31))
    assert f"no checkpoint in {tmp_path}, starting at 0" in caplog.text
    assert train(tmp_path, steps=2) == [31, 32]
    assert f"restored global step 30 from {tmp_path}/model.ckpt-30" in caplog.text


def test_it_restarts_in_every_graph_mode(graph_mode, tmp_path):
    train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
    for expected in (1, 2):
        with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
            assert session.run(train_op) == expected


def test_the_step_is_made_with_and_without_a_directory(graph_mode, tmp_path):
    loss = tf.constant(1.0)
    for directory in (None, str(tmp_path)):
        with graphtrain.MonitoredTrainingSession(checkpoint_dir=directory) as session:
            assert session.run(loss) == 1.0
    assert tf1.train.get_global_step() is not None


def test_paths_are_relative(tmp_path):
    train(tmp_path, steps=1)
    assert str(tmp_path) not in (tmp_path / "checkpoint").read_text()


def test_a_copy_reads_its_own_files(tmp_path):
    original, copy = tmp_path / "original", tmp_path / "copy"
    train(original, steps=5)
    shutil.copytree(original, copy)
    train(original, steps=5)
    shutil.rmtree(original)
    assert train(copy, steps=1) == [6]


def test_the_saver_goes_on_deleting_after_a_restart(tmp_path):
    for _ in range(2):
        train(tmp_path, steps=6, save_checkpoint_steps=1)
    kept = [os.path.basename(path) for path in checkpoints.kept(str(tmp_path))]
    assert kept == [f"model.ckpt-{step}" for step in (8, 9, 10, 11, 12)]
    assert len(list(tmp_path.glob("*.index"))) == 5


def test_intervals_in_steps_or_seconds(graph, tmp_path):
    with pytest.raises(graphtrain.UsageError, match="got 5 steps and 6 secs"):
        graphtrain.MonitoredTrainingSession(save_checkpoint_steps=5, save_checkpoint_secs=6)
    with pytest.raises(graphtrain.UsageError, match="save_summaries_steps and save_summaries_secs"):
        graphtrain.MonitoredTrainingSession(save_summaries_steps=5, save_summaries_secs=6)
    assert train(tmp_path, steps=1, save_checkpoint_steps=None, save_checkpoint_secs=None) == [1]
    assert not list(tmp_path.glob("*.index"))


def test_an_interval_longer_than_the_run_saves_first_and_last(tmp_path):
    train(tmp_path, steps=3, save_checkpoint_steps=1000)
    assert sorted(path.name for path in tmp_path.glob("*.index")) == [
        "model.ckpt-0.index",
        "model.ckpt-3.index",
    ]


def test_a_hook_that_initializes_again_is_refused(tmp_path):
    train(tmp_path, steps=3)
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        hook = RunsAfterCreation(tf1.global_variables_initializer())
        with pytest.raises(graphtrain.UsageError, match="restored to 3, but is 0"):
            graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[hook])
        with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
            assert session.run(train_op) == 4


def test_the_users_scaffold_is_honoured(graph_mode, tmp_path):
    variable = tf1.get_variable("v", initializer=0.0)
    calls = []
    scaffold = tf1.train.Scaffold(
        init_op=tf.group(tf1.global_variables_initializer(), tf.no_op()),
        init_fn=lambda scaffold, session: calls.append(scaffold.saver),
        saver=tf1.train.Saver([variable], save_relative_paths=True),
    )
    with graphtrain.MonitoredTrainingSession(scaffold=scaffold) as session:
        assert session.run(variable) == 0.0
    assert tf1.train.get_global_step() is None
    assert calls == [scaffold.saver]


def test_an_own_saver_without_the_step_starts_the_count_anew(tmp_path):
    def run():
        with tf.Graph().as_default():
            variable = tf1.get_variable("v", initializer=0.0)
            train_op = tf.group(
                tf1.assign_add(variable, 1.0),
                tf1.assign_add(tf1.train.get_or_create_global_step(), 1),
            )
            scaffold = tf1.train.Scaffold(
                saver=tf1.train.Saver([variable]),
                ready_op=tf.constant([], tf.string),
                local_init_op=tf1.variables_initializer([tf1.train.get_global_step()]),
                ready_for_local_init_op=tf.constant([], tf.string),
            )
            with graphtrain.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path), scaffold=scaffold
            ) as session:
                session.run(train_op)
                return session.run(variable)

    assert [run(), run()] == [1.0, 2.0]


def test_hooks_run_for_chief_and_worker(graph):
    hook, chief_hook = tf1.train.StopAtStepHook(1), tf1.train.StopAtStepHook(2)
    train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
    with graphtrain.MonitoredTrainingSession(
        hooks=[hook], chief_only_hooks=[chief_hook]
    ) as session:
        session.run(train_op)
        assert session.should_stop()


def test_a_worker_runs_no_chief_hooks_and_reads_its_own_input(graph):
    created = []
    hook, chief_hook = Names("all", created), Names("chief", created)
    numbers, _ = inputs.features_and_labels(tf.data.Dataset.range(2))
    with graphtrain.MonitoredTrainingSession(
        is_chief=False,
        scaffold=tf1.train.Scaffold(init_op=tf.no_op()),
        hooks=[hook],
        chief_only_hooks=[chief_hook],
    ) as session:
        assert session.run(numbers) == 0
    assert created == ["all"]


def test_a_worker_waits_for_its_chief_only_so_long(graph):
    with pytest.raises(graphtrain.UsageError, match="within 0.01 seconds: see what it waits for"):
        graphtrain.MonitoredTrainingSession(is_chief=False, max_wait_secs=0.01)


def test_the_end_of_data_closes_in_peace(flow_mode):
    numbers = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    seen = []
    with graphtrain.MonitoredTrainingSession() as session:
        while True:
            seen.append(int(session.run(numbers)))
    assert seen == [0, 1, 2]


def test_another_out_of_range_error_is_an_error(flow_mode, caplog):
    calls = []

    def fails_at_the_third_call():
        calls.append(1)
        if len(calls) == 3:
            raise StopIteration
        return 1.0

    loss = tf1.py_func(fails_at_the_third_call, [], tf.float64, name="broken_loss")
    with pytest.raises(tf.errors.OutOfRangeError, match="broken_loss"):
        with graphtrain.MonitoredTrainingSession() as session:
            while True:
                session.run(loss)
    assert len(calls) == 3
    assert "op 'broken_loss' raised an OutOfRangeError" in caplog.text


def test_stopping_by_the_step_context(graph):
    with graphtrain.MonitoredTrainingSession() as session:
        session.run_step_fn(lambda step_context: step_context.request_stop())


def test_errors_of_the_body_go_through(graph):
    with pytest.raises(KeyError, match="mine"), graphtrain.MonitoredTrainingSession():
        raise KeyError("mine")
