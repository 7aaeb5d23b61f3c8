"""A run goes on with its variables in another number of parts."""

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints

tf1 = tf.compat.v1


def train(directory, *, parts, steps):
    """Trains 10 rows in so many parts by Adagrad, so that the slots are in parts too."""
    with tf.Graph().as_default():
        partitioner = tf1.fixed_size_partitioner(parts) if parts > 1 else None
        rows = tf1.get_variable(
            "rows",
            [10, 1],
            initializer=tf1.random_uniform_initializer(seed=1),
            partitioner=partitioner,
        )
        loss = tf.reduce_sum(tf.square(tf.convert_to_tensor(rows) - 1.0))
        step = tf1.train.get_or_create_global_step()
        train_op = tf1.train.AdagradOptimizer(0.1).minimize(loss, step)
        with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(directory)) as session:
            for _ in range(steps):
                session.run(train_op)
    reader = tf.train.load_checkpoint(checkpoints.newest(str(directory)))
    return [reader.get_tensor(name).tolist() for name in ("rows", "rows/Adagrad")]


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_any_number_of_parts_goes_on_from_three(tmp_path, parts):
    train(tmp_path / "run", parts=3, steps=5)
    resumed = train(tmp_path / "run", parts=parts, steps=5)
    np.testing.assert_allclose(resumed, train(tmp_path / "unbroken", parts=3, steps=10), rtol=1e-6)
