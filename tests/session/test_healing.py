"""Runs in directories that were damaged, interrupted in a save, moved or short of room."""

import contextlib
import logging
import os
import random
import shutil

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoint_files, checkpoint_state, checkpoints
from graphtrain.session.checkpoint_writer import CheckpointWriter
from graphtrain.session.saver_hook import SaverHook

tf1 = tf.compat.v1


def train(directory, *, to_step, every=5, on_step=lambda step: None, **safety):
    """Trains a counter to a global step, saving every so many; returns the first step made."""
    with tf.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        weight = tf1.get_variable("w", initializer=tf.zeros([3]))
        numbers, _ = graphtrain.session.inputs.features_and_labels(
            tf.data.Dataset.range(1000).shuffle(5, seed=1)
        )
        update = tf1.assign_add(weight, tf.ones([3]) * tf.cast(numbers, tf.float32))
        with tf.control_dependencies([update]):
            train_op = tf1.assign_add(step, 1)
        first = None
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory),
            save_checkpoint_steps=every,
            log_step_count_steps=None,
            save_summaries_steps=0,
            safety=graphtrain.SafetyConfig(**safety),
        ) as session:
            reached = 0
            while reached < to_step:
                reached = int(session.run(train_op))
                first = first or reached
                on_step(reached)
        return first


def weights(directory):
    return tf.train.load_variable(checkpoints.newest(str(directory)), "w").tolist()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run with checkpoints at 5, 10, 15 and 20, to be copied."""
    directory = tmp_path_factory.mktemp("trained") / "run"
    train(directory, to_step=20)
    checkpoint_files.remove(f"{directory}/model.ckpt-0")
    return directory


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The weights of a run to step 25 that nothing happened to."""
    directory = tmp_path_factory.mktemp("unbroken")
    train(directory, to_step=25)
    return weights(directory)


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


def truncate(path, share=0.5):
    os.truncate(path, int(os.path.getsize(path) * share))


def flip(path, position=None, bit=16):
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if position is None else position] ^= bit
    path.write_bytes(bytes(content))


DATA, POSITION = "model.ckpt-20.data-00000-of-00002", "model.ckpt-20.data-00001-of-00002"
INDEX, STATE = "model.ckpt-20.index", "checkpoint"
DAMAGE = {
    "truncated data": (DATA, truncate, 15),
    "empty data": (DATA, lambda path: truncate(path, 0), 15),
    "flipped data": (DATA, flip, 15),
    "no data": (DATA, os.remove, 15),
    "truncated index": (INDEX, truncate, 15),
    "no index": (INDEX, os.remove, 15),
    "flipped position": (POSITION, flip, 15),
    "empty state": (STATE, lambda path: truncate(path, 0), 20),
    "half a state": (STATE, truncate, 20),
    "no state": (STATE, os.remove, 20),
    "renamed state": (STATE, lambda path: path.rename(f"{path}.txt"), 20),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_goes_on_at_its_newest_good_checkpoint(run, unbroken, kind, caplog):
    name, damage, resumed_at = DAMAGE[kind]
    damage(run / name)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert train(run, to_step=25) == resumed_at + 1
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 1
    assert ("model.ckpt-20" if resumed_at == 15 else f"{run}/checkpoint is missing") in warnings[0]
    assert weights(run) == unbroken
    assert train(run, to_step=26) == 26
    assert len(caplog.records) == 1


def test_a_run_of_which_nothing_can_be_read_does_not_start_anew(run):
    for index in run.glob("*.index"):
        truncate(index)
    before = sorted(os.listdir(run))
    with pytest.raises(graphtrain.DataError, match="No checkpoint in .* can be read"):
        train(run, to_step=25)
    assert sorted(os.listdir(run)) == before


def test_a_first_save_that_was_interrupted_loses_nothing(tmp_path):
    (tmp_path / "model.ckpt-0.index").write_bytes(b"half an ind")
    assert train(tmp_path, to_step=1) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_a_run_with_random_damage_goes_on(run, unbroken, caplog, seed):
    """One file of the directory, each in its turn, is cut or has a bit flipped."""
    chance = random.Random(seed)
    paths = sorted(path for path in run.iterdir() if path.is_file())
    path = paths[seed % len(paths)]
    size = path.stat().st_size
    if chance.random() < 0.5:
        os.truncate(path, chance.randrange(size))
    else:
        flip(path, chance.randrange(size), bit=1 << chance.randrange(8))
    with caplog.at_level(logging.WARNING, "tensorflow"):
        resumed_at = train(run, to_step=25) - 1
    # Some bits of an index mean nothing; a bit of a name in the state file makes it another name.
    allowed = {DATA: {15}, POSITION: {15}, INDEX: {15, 20}, STATE: {5, 10, 15, 20}}
    assert resumed_at in allowed.get(path.name, {20})
    assert len(caplog.records) <= 1
    assert resumed_at == 20 or f"using {run}/model.ckpt-{resumed_at}" in caplog.text
    assert weights(run) == unbroken
    assert checkpoints.newest(str(run)) == f"{run}/model.ckpt-25"


def test_leftovers_go_and_what_is_listed_stays(run):
    (run / "unfinished_save").mkdir()
    (run / "unfinished_save" / "variables.index").write_bytes(b"")
    for name in (
        "model.ckpt-22.data-00000-of-00002",
        "model.ckpt-22.meta",
        "checkpoint.tmp0123abcd",
        "model.ckpt-21.data-00000-of-00001.tempstate123",
        "mine.ckpt-3.data-00000-of-00001",
    ):
        (run / name).write_bytes(b"")
    os.remove(run / "model.ckpt-10.index")
    before = set(os.listdir(run))
    train(run, to_step=21)
    gone = before - set(os.listdir(run))
    assert gone >= {
        "unfinished_save",
        "model.ckpt-22.data-00000-of-00002",
        "model.ckpt-22.meta",
        "checkpoint.tmp0123abcd",
        "model.ckpt-21.data-00000-of-00001.tempstate123",
    }
    assert "mine.ckpt-3.data-00000-of-00001" not in gone


@contextlib.contextmanager
def failing_saves(monkeypatch, failures):
    """Makes the next saves fail as on a full disk."""
    write = CheckpointWriter._merge_parts
    left = [failures]

    def fails(self, *args):
        if left[0]:
            left[0] -= 1
            raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")
        return write(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointWriter, "_merge_parts", fails)
        yield


def test_a_failed_save_is_reported_and_training_goes_on(run, monkeypatch, caplog, unbroken):
    with failing_saves(monkeypatch, 1):
        assert train(run, to_step=25, every=2) == 21
    assert "step 22 could not be saved (No space left on device); the newest is" in caplog.text
    assert [checkpoints.global_step_of(path) for path in checkpoints.kept(str(run))] == [
        *(10, 15, 20, 24, 25),
    ]
    assert weights(run) == unbroken
    assert not (run / "unfinished_save").exists()


def test_too_many_failed_saves_end_the_run(run, monkeypatch):
    with failing_saves(monkeypatch, 9), pytest.raises(tf.errors.ResourceExhaustedError):
        train(run, to_step=40, every=1, max_failed_saves=0)
    assert checkpoints.newest(str(run)).endswith("model.ckpt-20")
    assert train(run, to_step=21) == 21


def test_what_cannot_be_read_back_is_no_checkpoint(run, monkeypatch, caplog):
    merge = CheckpointWriter._merge_parts

    def damages(self, session, parts, path, saver):
        flip_in = parts[0] + ".data-00000-of-00001"
        with open(flip_in, "r+b") as file:
            first = file.read(1)
            file.seek(0)
            file.write(bytes([first[0] ^ 1]))
        merge(self, session, parts, path, saver)

    with monkeypatch.context() as patch:
        patch.setattr(CheckpointWriter, "_merge_parts", damages)
        with pytest.raises(graphtrain.DataError, match="model.ckpt-21 cannot be read back"):
            train(run, to_step=21)
    assert checkpoints.newest(str(run)).endswith("model.ckpt-20")
    assert not list(run.glob("model.ckpt-21*"))


@pytest.mark.parametrize("how", ["moved", "copied", "linked", "relative"])
def test_a_run_elsewhere_reads_its_own_files(run, tmp_path, how, unbroken, monkeypatch):
    state = checkpoint_state.read(str(run))
    absolute = tuple(f"{run}/{path}" for path in state.paths)
    checkpoint_state.write(str(run), checkpoint_state.CheckpointState(absolute))
    other = tmp_path / "other"
    if how == "moved":
        run.rename(other)
    elif how == "copied":
        shutil.copytree(run, other)
        for file in run.glob("model.ckpt-20*"):
            truncate(file)
    elif how == "linked":
        other.symlink_to(run)
    else:
        monkeypatch.chdir(tmp_path)
        other = "run/"
    assert train(other, to_step=25) == 21
    assert weights(other) == unbroken


def test_pruning_goes_on_across_runs_and_spares_one_an_hour(tmp_path):
    for to_step in (6, 12):
        train(tmp_path, to_step=to_step, every=1)
    names = [os.path.basename(path) for path in checkpoints.kept(str(tmp_path))]
    assert names == [f"model.ckpt-{step}" for step in (8, 9, 10, 11, 12)]
    assert len(list(tmp_path.glob("*.index"))) == 5


def test_what_was_restored_is_not_written_again(run):
    before = (run / INDEX).stat().st_mtime_ns
    train(run, to_step=21)
    assert (run / INDEX).stat().st_mtime_ns == before


def test_tensorflow_reads_the_state_file(run):
    train(run, to_step=21)
    assert tf.train.latest_checkpoint(str(run)) == f"{run}/model.ckpt-21"
    with tf.Graph().as_default():
        state = tf1.train.get_checkpoint_state(str(run))
    assert list(state.all_model_checkpoint_paths)[-1] == f"{run}/model.ckpt-21"


def test_an_error_between_two_steps_loses_no_step(tmp_path):
    def fails_at_7(step):
        if step == 7:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        train(tmp_path, to_step=20, on_step=fails_at_7)
    assert checkpoints.newest(str(tmp_path)).endswith("-7")
    assert train(tmp_path, to_step=8) == 8


def test_an_error_in_a_step_may_have_left_half_of_it(tmp_path):
    def fails_at_7(step):
        if step == 7:
            raise tf.errors.InternalError(None, None, "half a step")

    with pytest.raises(tf.errors.InternalError):
        train(tmp_path, to_step=20, on_step=fails_at_7)
    assert checkpoints.newest(str(tmp_path)).endswith("-5")


class FailingListener(tf1.train.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        if global_step_value == 4:
            raise ValueError("of the listener")


def test_an_error_of_a_listener_is_no_failed_save(tmp_path):
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        hook = SaverHook(str(tmp_path), save_steps=2, listeners=[FailingListener()])
        with pytest.raises(ValueError, match="of the listener"):
            with graphtrain.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path), save_checkpoint_secs=0, chief_only_hooks=[hook]
            ) as session:
                for _ in range(9):
                    session.run(train_op)
    assert checkpoints.newest(str(tmp_path)).endswith("-4")


def test_a_failed_save_is_tried_again_after_a_while(tmp_path, monkeypatch):
    now = [0.0]
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        hook = SaverHook(str(tmp_path), save_secs=600, clock=lambda: now[0])
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_checkpoint_secs=0, chief_only_hooks=[hook]
        ) as session:
            saved = []
            with failing_saves(monkeypatch, 1):
                for now[0] in (599.0, 600.0, 629.0, 630.0, 631.0, 1229.0, 1230.0):
                    session.run(train_op)
                    saved.append(checkpoints.newest(str(tmp_path)).rpartition("-")[2])
    assert saved == ["0", "0", "0", "4", "4", "4", "7"]
