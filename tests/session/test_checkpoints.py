import logging
import os
import shutil

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints

tf1 = tf.compat.v1


def save(directory, *, step, value=0.0, **saver_settings):
    """Saves a variable `v` and the global step into `directory`."""
    with tf.Graph().as_default():
        tf1.get_variable("v", initializer=float(value))
        tf1.get_variable("global_step", initializer=tf.constant(step, tf.int64))
        saver = tf1.train.Saver(**{"save_relative_paths": True, **saver_settings})
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            saver.recover_last_checkpoints(checkpoints.kept(directory))
            return saver.save(session, os.path.join(directory, "model.ckpt"), global_step=step)


def value_in(path):
    return float(tf.train.load_variable(path, "v"))


@pytest.fixture
def directory(tmp_path):
    os.makedirs(tmp_path / "run")
    return str(tmp_path / "run")


def test_newest_of_none(tmp_path):
    assert checkpoints.newest(str(tmp_path)) is None
    assert checkpoints.newest(str(tmp_path / "missing")) is None


def test_newest_and_kept(directory):
    first, second = save(directory, step=5), save(directory, step=10)
    assert checkpoints.newest(directory) == second
    assert checkpoints.kept(directory) == [first, second]
    assert checkpoints.global_step_of(second) == 10


def test_a_copied_directory_reads_its_own_files(directory, tmp_path, caplog):
    save(directory, step=5, value=1.0, save_relative_paths=False)
    copy = str(tmp_path / "copy")
    shutil.copytree(directory, copy)
    save(directory, step=5, value=2.0, save_relative_paths=False)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        path = checkpoints.newest(copy)
    assert path == os.path.join(copy, "model.ckpt-5")
    assert value_in(path) == 1.0
    assert f"which is in another directory: using {path}" in caplog.text


def test_a_moved_directory_reads_its_own_files(directory, tmp_path):
    save(directory, step=5, save_relative_paths=False)
    moved = str(tmp_path / "moved")
    shutil.move(directory, moved)
    assert checkpoints.newest(moved) == os.path.join(moved, "model.ckpt-5")
    assert checkpoints.kept(moved) == [os.path.join(moved, "model.ckpt-5")]


@pytest.mark.parametrize("relative", [True, False])
def test_other_names_of_the_same_directory(directory, tmp_path, relative, monkeypatch, caplog):
    save(directory, step=5, save_relative_paths=relative)
    link = str(tmp_path / "link")
    os.symlink(directory, link)
    monkeypatch.chdir(tmp_path)
    for name in (directory + "/", link, "run", "./run/"):
        assert os.path.samefile(
            checkpoints.newest(name) + ".index", f"{directory}/model.ckpt-5.index"
        )
    assert "another directory" not in caplog.text


def test_a_missing_newest_falls_back(directory, caplog):
    first, second = save(directory, step=5), save(directory, step=10)
    os.remove(second + ".index")
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert checkpoints.newest(directory) == first
    message = "model.ckpt-10 (model.ckpt-10.index is missing) cannot be read in"
    assert f"{message} {directory}: using {first}" in caplog.text


def test_a_state_file_without_checkpoints_is_an_error(directory):
    path = save(directory, step=5)
    os.remove(path + ".index")
    with pytest.raises(graphtrain.DataError, match="can be read: model.ckpt-5 .*index is missing"):
        checkpoints.newest(directory)


def test_the_saver_keeps_so_many(directory, graph):
    tf1.train.create_global_step()
    saver = checkpoints.make_saver(max_to_keep=2)
    saver.build()
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for step in (1, 2, 3):
            saver.save(session, os.path.join(directory, "model.ckpt"), global_step=step)
    names = [os.path.basename(path) for path in checkpoints.kept(directory)]
    assert names == ["model.ckpt-2", "model.ckpt-3"]
    with open(os.path.join(directory, "checkpoint")) as state_file:
        assert directory not in state_file.read()


def test_the_users_saver_stays(graph):
    tf1.train.create_global_step()
    own = tf1.train.Saver()
    checkpoints.use_own_saver(tf1.train.Scaffold(saver=own))
    assert tf1.get_collection(tf1.GraphKeys.SAVERS) == []
    tf1.add_to_collection(tf1.GraphKeys.SAVERS, own)
    checkpoints.use_own_saver(tf1.train.Scaffold())
    assert tf1.get_collection(tf1.GraphKeys.SAVERS) == [own]


def test_listeners_join_a_hook_once():
    listener = tf1.train.CheckpointSaverListener()
    hook = tf1.train.CheckpointSaverHook("run", save_steps=1)
    checkpoints.add_listeners(hook, [listener])
    checkpoints.add_listeners(hook, [listener])
    assert hook._listeners == [listener]
