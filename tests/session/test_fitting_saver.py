import logging

import numpy as np
import pytest
import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1


def train(directory, optimizer, *, steps=1, size=2, partitions=None, scaffold=None):
    """Trains w towards 0 from where the directory is; returns all global variables by name."""
    with tf.Graph().as_default():
        partitioner = tf1.fixed_size_partitioner(partitions) if partitions else None
        weights = tf1.get_variable(
            "w", [size], initializer=tf1.ones_initializer(), partitioner=partitioner
        )
        loss = tf.reduce_sum(tf.square(tf.convert_to_tensor(weights)))
        step = tf1.train.get_or_create_global_step()
        train_op = optimizer().minimize(loss, global_step=step)
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory), scaffold=scaffold and scaffold()
        ) as session:
            for _ in range(steps):
                session.run(train_op)
            values = session.run_without_hooks(tf1.global_variables())
            return dict(zip((v.op.name for v in tf1.global_variables()), values, strict=True))


def sgd():
    return tf1.train.GradientDescentOptimizer(0.1)


def adam():
    return tf1.train.AdamOptimizer(0.1)


def searched_adam():
    return graphtrain.LineSearchOptimizer(adam(), first_scale="grow")


def own_saver():
    return tf1.train.Scaffold(saver=tf1.train.Saver())


@pytest.mark.parametrize("scaffold", [None, own_saver])
@pytest.mark.parametrize("partitions", [None, 2])
def test_a_search_is_switched_on_and_off(tmp_path, caplog, partitions, scaffold):
    options = {"partitions": partitions, "scaffold": scaffold}
    before = train(tmp_path, adam, steps=3, **options)
    with caplog.at_level(logging.INFO, "tensorflow"):
        resumed = train(tmp_path, searched_adam, steps=0, **options)
    state = sorted(set(resumed) - set(before))
    assert state and all(name.startswith("line_search/") for name in state)
    for name, value in before.items():
        np.testing.assert_array_equal(resumed[name], value, err_msg=name)
    assert f"has no state of the line search, which starts anew: {state[0]}" in caplog.text
    searched = train(tmp_path, searched_adam, steps=2, **options)
    assert searched["global_step"] == 5
    plain = train(tmp_path, adam, steps=0, **options)
    assert sorted(plain) == sorted(before)
    for name, value in plain.items():
        np.testing.assert_array_equal(searched[name], value, err_msg=name)


def test_another_optimizer_is_refused(tmp_path):
    train(tmp_path, sgd)
    message = (
        r"model.ckpt-1 does not fit the graph. Missing in the checkpoint: beta1_power, "
        r"beta2_power, w/Adam, w/Adam_1. Unused by the graph: none. Changed in shape: none. "
        r".*another model_dir and warm_start_from"
    )
    with pytest.raises(graphtrain.UsageError, match=message):
        train(tmp_path, adam)


def test_a_search_beside_another_optimizer_is_refused_too(tmp_path):
    train(tmp_path, sgd)
    with pytest.raises(graphtrain.UsageError, match="w/Adam, w/Adam_1. Unused"):
        train(tmp_path, searched_adam)


def test_the_three_groups(tmp_path):
    train(tmp_path, adam, size=2)
    message = (
        r"Unused by the graph: beta1_power, beta2_power, w/Adam, w/Adam_1. "
        r"Changed in shape: w \(\[2\] in the checkpoint, \[3\] in the graph\)"
    )
    with pytest.raises(graphtrain.UsageError, match=message):
        train(tmp_path, sgd, size=3)


def test_long_lists_are_cut(tmp_path):
    train(tmp_path, sgd)
    with tf.Graph().as_default():
        for index in range(25):
            tf1.get_variable(f"v{index:02}", initializer=0.0)
        with pytest.raises(graphtrain.UsageError, match=r"v00, .*, v19 and 5 more\. Unused"):
            graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path))


def test_a_checkpoint_of_objects_is_refused(tmp_path):
    with tf.Graph().as_default(), tf1.Session() as session:
        weights = tf1.get_variable("w", initializer=[5.0, 6.0])
        step = tf1.train.create_global_step()
        session.run(tf1.global_variables_initializer())
        checkpoint = tf1.train.Checkpoint(weights=weights, step=step)
        checkpoint.save(str(tmp_path / "objects"), session=session)
    with pytest.raises(graphtrain.UsageError, match=r"objects-1 was written by tf.train.Checkp"):
        train(tmp_path, sgd)
