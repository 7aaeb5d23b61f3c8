import json
import os
import socket
import subprocess
import sys

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints
from graphtrain.session.writer_lock import FILE_NAME, WriterLock

tf1 = tf.compat.v1

OWNER = """
import fcntl, json, os, socket, sys
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
json.dump({"pid": os.getpid(), "host": socket.gethostname()}, file)
file.flush()
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path):
    """Another process that trains in `tmp_path`."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, tmp_path / FILE_NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        yield process
        process.kill()


def train(directory, steps=1, **safety):
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory), safety=graphtrain.SafetyConfig(**safety)
        ) as session:
            assert os.path.exists(f"{directory}/{FILE_NAME}") or not safety.get("single_writer", 1)
            for _ in range(steps):
                session.run(train_op)


def test_a_second_trainer_is_refused_with_the_firsts_pid(tmp_path, owner):
    with pytest.raises(graphtrain.UsageError, match=f"is being written to by process {owner.pid}"):
        train(tmp_path)
    assert os.listdir(tmp_path) == [FILE_NAME]
    train(tmp_path, single_writer=False)
    assert checkpoints.newest(str(tmp_path)).endswith("-1")


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path, owner):
    owner.kill()
    owner.wait()
    train(tmp_path)
    assert not (tmp_path / FILE_NAME).exists()


def test_two_sessions_of_one_process(tmp_path):
    lock = WriterLock(str(tmp_path))
    lock.acquire()
    with pytest.raises(graphtrain.UsageError, match=f"by process {os.getpid()} on"):
        train(tmp_path)
    lock.release()
    train(tmp_path)


def test_of_another_machine_nobody_knows_whether_it_lives(tmp_path):
    (tmp_path / FILE_NAME).write_text(json.dumps({"pid": 7, "host": "elsewhere"}))
    with pytest.raises(graphtrain.UsageError, match="process 7 on elsewhere.*remove .*train.lock"):
        train(tmp_path)
    (tmp_path / FILE_NAME).write_text(json.dumps({"pid": 7, "host": socket.gethostname()}))
    train(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"pid": 7}'])
def test_a_garbled_lock_holds_nobody_off(tmp_path, content):
    (tmp_path / FILE_NAME).write_text(content)
    train(tmp_path)


def test_it_is_given_back_after_an_error(tmp_path):
    with pytest.raises(KeyError), tf.Graph().as_default():
        with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)):
            raise KeyError
    with pytest.raises(graphtrain.UsageError), tf.Graph().as_default():
        tf1.get_variable("global_step", initializer=1.0)
        graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path))
    assert not (tmp_path / FILE_NAME).exists()


def test_a_file_is_no_directory(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(graphtrain.UsageError, match="run cannot be written to: "):
        train(tmp_path / "run")


def test_without_saves_there_is_no_lock(tmp_path, owner):
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_checkpoint_secs=0, summary_dir=str(tmp_path / "s")
        ) as session:
            session.run(train_op)
