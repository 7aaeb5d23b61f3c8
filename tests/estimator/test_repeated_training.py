"""Estimator.train called again and again, as the loop over epochs of many a program does."""

import numpy as np
import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1


def estimator(model_dir):
    def model_fn(features, labels, mode):
        w = tf1.get_variable("w", initializer=0.0)
        step = tf1.train.get_global_step()
        loss = tf.reduce_mean(tf.square(w - features))
        with tf.control_dependencies([tf1.assign_add(w, tf.reduce_sum(features))]):
            train_op = tf1.assign_add(step, 1)
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return graphtrain.Estimator(model_fn, str(model_dir), graphtrain.RunConfig(tf_random_seed=1))


def five_batches():
    return tf.data.Dataset.from_tensor_slices(np.arange(1, 6, dtype=np.float32)).batch(1)


def test_each_call_takes_the_whole_of_a_finite_input(flow_mode, tmp_path):
    trained = estimator(tmp_path)
    for epoch in (1, 2, 3):
        trained.train(five_batches)
        result = trained.last_train_result
        assert (result.global_step, result.reason) == (5 * epoch, "end_of_data")
        assert trained.get_variable_value("w") == 15.0 * epoch


def test_a_call_goes_on_where_the_one_before_stopped(flow_mode, tmp_path):
    trained = estimator(tmp_path)
    trained.train(five_batches, steps=2)
    assert trained.get_variable_value("w") == 1.0 + 2.0
    trained.train(five_batches, steps=2)
    assert trained.get_variable_value("w") == 1.0 + 2.0 + 3.0 + 4.0


def test_steps_after_the_end_of_the_input(flow_mode, tmp_path):
    trained = estimator(tmp_path)
    trained.train(five_batches)
    trained.train(five_batches, steps=2)
    assert trained.get_variable_value("w") == 15.0 + 1.0 + 2.0
