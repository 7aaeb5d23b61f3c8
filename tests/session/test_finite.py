import glob
import os

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints
from graphtrain.session.finite import NotFiniteError

tf1 = tf.compat.v1


def train(directory, *, bad_step, value=np.nan, steps=12, trainable=True):
    """Trains `w`, whose gradient is bad at one step, saving every 4."""
    step = tf1.train.get_or_create_global_step()
    tf1.get_variable("good", initializer=1.0)
    weight = tf1.get_variable("w", initializer=[1.0, 2.0], trainable=trainable)
    bad = tf.cast(tf.equal(tf.cast(step, tf.int64), bad_step - 1), tf.float32)
    change = tf.where(bad > 0, tf.constant([0.0, value]), tf.constant([0.1, 0.1]))
    with tf.control_dependencies([tf1.assign_sub(weight, change)]):
        train_op = tf1.assign_add(step, 1)
    with graphtrain.MonitoredTrainingSession(
        checkpoint_dir=str(directory), save_checkpoint_steps=4
    ) as session:
        for _ in range(steps):
            session.run(train_op)


def test_what_is_not_finite_is_never_saved(graph_mode, tmp_path):
    message = "At step 8 w held numbers that are not finite: they were not saved"
    with pytest.raises(NotFiniteError, match=message):
        train(tmp_path, bad_step=7)
    assert checkpoints.newest(str(tmp_path)).endswith("model.ckpt-4")
    for index in glob.glob(f"{tmp_path}/*.index"):
        assert np.isfinite(tf.train.load_variable(index[: -len(".index")], "w")).all()
    assert not os.path.exists(tmp_path / "unfinished_save")


def test_nor_at_the_end(graph, tmp_path):
    with pytest.raises(NotFiniteError, match="At step 6 w held"):
        train(tmp_path, bad_step=6, steps=6, value=np.inf)
    assert checkpoints.newest(str(tmp_path)).endswith("model.ckpt-4")


def test_tensorflows_name_for_it_is_understood(graph, tmp_path):
    with pytest.raises(tf1.train.NanLossDuringTrainingError):
        train(tmp_path, bad_step=2)


def test_what_is_not_trained_may_be_infinite(graph, tmp_path):
    tf1.get_variable("best_loss", initializer=np.float32(np.inf), trainable=False)
    train(tmp_path, bad_step=-1, steps=4)
    assert checkpoints.newest(str(tmp_path)).endswith("model.ckpt-4")
