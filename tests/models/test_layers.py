import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.models import layers

tf1 = tf.compat.v1
UPDATE_OPS = tf1.GraphKeys.UPDATE_OPS


def initialized_session():
    session = tf1.Session()
    session.run(tf1.global_variables_initializer())
    return session


def names(variables):
    return [variable.op.name for variable in variables]


def some_layers(images):
    net = layers.conv2d(images, 4, 3)
    net = layers.batch_norm(net, training=True)
    net = layers.conv2d(net, 4, 3, use_bias=False)
    net = layers.batch_norm(net, training=True)
    net = layers.dropout(net, rate=0.5, training=True)
    net = layers.dense(layers.flatten(net), 5)
    return layers.dense(net, 2)


def test_the_names_of_tf_layers(graph_mode):
    some_layers(tf.zeros([2, 8, 8, 1]))
    assert names(tf1.trainable_variables()) == [
        "conv2d/kernel",
        "conv2d/bias",
        "batch_normalization/gamma",
        "batch_normalization/beta",
        "conv2d_1/kernel",
        "batch_normalization_1/gamma",
        "batch_normalization_1/beta",
        "dense/kernel",
        "dense/bias",
        "dense_1/kernel",
        "dense_1/bias",
    ]
    untrained = set(names(tf1.global_variables())) - set(names(tf1.trainable_variables()))
    assert untrained == {
        "batch_normalization/moving_mean",
        "batch_normalization/moving_variance",
        "batch_normalization_1/moving_mean",
        "batch_normalization_1/moving_variance",
        "global_step",
    }
    assert len(tf1.get_collection(UPDATE_OPS)) == 4


def test_names_within_a_scope_and_given_names(graph):
    with tf1.variable_scope("tower"):
        layers.dense(tf.zeros([2, 3]), 2)
        layers.dense(tf.zeros([2, 3]), 2, name="head", use_bias=False)
    with tf1.variable_scope("tower", reuse=True):
        layers.dense(tf.zeros([2, 3]), 2, name="head", use_bias=False)
    assert names(tf1.global_variables()) == [
        "tower/dense/kernel",
        "tower/dense/bias",
        "tower/head/kernel",
    ]


def test_a_checkpoint_with_the_names_of_tf_layers_fits(tmp_path):
    with tf.Graph().as_default():
        tf1.get_variable("dense/kernel", initializer=tf.fill([3, 2], 2.0))
        tf1.get_variable("dense/bias", initializer=tf.fill([2], 1.0))
        with initialized_session() as session:
            path = tf1.train.Saver().save(session, str(tmp_path / "old"))
    with tf.Graph().as_default(), tf1.Session() as session:
        outputs = layers.dense(tf.ones([1, 3]), 2)
        tf1.train.Saver().restore(session, path)
        np.testing.assert_array_equal(session.run(outputs), [[7.0, 7.0]])


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_dense(graph_mode, dtype):
    inputs = tf.constant([[1.0, -2.0], [3.0, 4.0]], dtype)
    outputs = layers.dense(inputs, 1, activation=tf.nn.relu)
    kernel, bias = tf1.trainable_variables()
    assert outputs.dtype == kernel.dtype.base_dtype == bias.dtype.base_dtype == dtype
    with initialized_session() as session:
        assert session.run(bias).tolist() == [0.0]
        session.run([kernel.assign([[1.0], [1.0]]), bias.assign([0.5])])
        np.testing.assert_array_equal(session.run(outputs), [[0.0], [7.5]])


def test_dense_over_the_last_axis_of_a_sequence(graph):
    assert layers.dense(tf.zeros([2, 5, 3]), 4).shape == [2, 5, 4]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_conv2d(graph_mode, dtype):
    image = tf.reshape(tf.range(16, dtype=dtype), [1, 4, 4, 1])
    outputs = layers.conv2d(image, 1, 2, strides=2, padding="VALID")
    kernel, bias = tf1.trainable_variables()
    with initialized_session() as session:
        session.run([kernel.assign(tf.ones([2, 2, 1, 1], dtype)), bias.assign([1.0])])
        np.testing.assert_array_equal(session.run(outputs)[0, ..., 0], [[11, 19], [43, 51]])


def test_kernels_are_glorot_uniform(graph):
    layers.dense(tf.zeros([1, 300]), 100)
    (kernel,) = tf1.trainable_variables("dense/kernel")
    with initialized_session() as session:
        values = session.run(kernel)
    limit = np.sqrt(6 / (300 + 100))
    assert np.abs(values).max() <= limit
    assert np.abs(values).max() > 0.99 * limit
    assert np.std(values) == pytest.approx(limit / np.sqrt(3), rel=0.02)


def first_kernels(seed):
    with tf.Graph().as_default():
        layers.dense(tf.zeros([1, 4]), 4, seed=seed)
        layers.dense(tf.zeros([1, 4]), 4, seed=seed)
        with initialized_session() as session:
            return session.run(tf1.trainable_variables("dense.*/kernel"))


def test_the_seed_fixes_each_kernel():
    (first, second), (again, _), (other, _) = map(first_kernels, (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("dtype", "shape", "fused", "corrected"),
    [
        # tf.layers keeps the n / (n - 1) of the fused kernel's variance.
        (tf.float32, [8, 3, 3, 2], True, True),
        (tf.float32, [8, 3, 3, 2], False, False),
        (tf.float64, [8, 3, 3, 2], True, False),
        (tf.float32, [8, 2], True, False),
    ],
    ids=["fused", "plain", "float64", "vectors"],
)
def test_batch_norm(graph_mode, dtype, shape, fused, corrected):
    values = np.random.default_rng(0).normal(3.0, 2.0, shape)
    inputs = tf.constant(values, dtype)
    axes = tuple(range(len(shape) - 1))
    mean, variance = values.mean(axes), values.var(axes)
    with tf1.variable_scope("net"):
        outputs = layers.batch_norm(inputs, training=True, momentum=0.75, fused=fused, name="norm")
    with tf1.variable_scope("net", reuse=True):
        frozen = layers.batch_norm(inputs, training=False, fused=fused, name="norm")
    assert outputs.dtype == dtype
    with initialized_session() as session:
        np.testing.assert_allclose(
            session.run(outputs), (values - mean) / np.sqrt(variance + 1e-3), atol=1e-4
        )
        np.testing.assert_allclose(session.run(frozen), values / np.sqrt(1 + 1e-3), rtol=1e-4)
        session.run(tf1.get_collection(UPDATE_OPS))
        moving_mean, moving_variance = (
            session.run(tf1.global_variables(f"net/norm/{name}")[0])
            for name in ("moving_mean", "moving_variance")
        )
    count = values.size / shape[-1]
    seen = variance * count / (count - 1) if corrected else variance
    np.testing.assert_allclose(moving_mean, 0.25 * mean, rtol=1e-5)
    np.testing.assert_allclose(moving_variance, 0.75 + 0.25 * seen, rtol=1e-5)


def test_the_moving_mean_comes_near_the_mean_in_50_steps(graph):
    inputs = tf.random.normal([64, 3], mean=10.0, seed=1)
    layers.batch_norm(inputs, training=True, momentum=0.9)
    with initialized_session() as session:
        for _ in range(50):
            session.run(tf1.get_collection(UPDATE_OPS))
        (mean,) = tf1.global_variables("batch_normalization/moving_mean")
        np.testing.assert_allclose(session.run(mean), [10.0] * 3, rtol=0.05)


def test_batch_norm_outside_training_updates_nothing(graph):
    layers.batch_norm(tf.zeros([4, 2]), training=False)
    assert tf1.get_collection(UPDATE_OPS) == []


def masks(steps, *, seed, graph_seed=None):
    """The masks of two dropout layers at some steps, each built and run anew."""
    drawn = []
    for step in steps:
        with tf.Graph().as_default():
            tf1.set_random_seed(graph_seed)
            global_step = tf1.train.create_global_step()
            ones = tf.ones([50, 20], tf.float64)
            pair = [layers.dropout(ones, rate=0.2, training=True, seed=seed) for _ in range(2)]
            with initialized_session() as session:
                session.run(tf1.assign(global_step, step))
                drawn.append(session.run(pair))
                np.testing.assert_array_equal(session.run(pair), drawn[-1])
    return drawn


def test_dropout_depends_on_seed_step_and_layer_only():
    (first, second), (third, _) = masks([5, 6], seed=1)
    np.testing.assert_array_equal(masks([5], seed=1, graph_seed=9)[0][0], first)
    for other in (second, third, masks([5], seed=2)[0][0]):
        assert not np.array_equal(first, other)


def test_dropout_without_a_seed_takes_the_graphs():
    np.testing.assert_array_equal(
        masks([5], seed=None, graph_seed=1), masks([5], seed=1, graph_seed=2)
    )
    np.testing.assert_array_equal(masks([5], seed=None), masks([5], seed=0))


def test_dropout_in_a_scope_makes_the_global_step_at_the_root(graph):
    with tf1.variable_scope("tower", reuse=True):
        layers.dropout(tf.ones([4]), rate=0.5, training=True)
    assert tf1.train.get_global_step().op.name == "global_step"


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_dropout_keeps_the_mean(graph_mode, dtype):
    outputs = layers.dropout(tf.ones([100, 100], dtype), rate=0.2, training=True, seed=1)
    assert outputs.dtype == dtype
    with initialized_session() as session:
        values = session.run(outputs)
    np.testing.assert_allclose(np.unique(values), [0.0, 1.25])
    assert np.mean(values == 0) == pytest.approx(0.2, abs=0.02)


def test_dropout_outside_training_does_nothing(graph):
    inputs = tf.constant([1.0, 2.0])
    outputs = [
        layers.dropout(inputs, rate=0.5, training=False),
        layers.dropout(inputs, rate=0.0, training=True),
    ]
    with tf1.Session() as session:
        for values in session.run(outputs):
            assert values.tolist() == [1.0, 2.0]
    assert tf1.train.get_global_step() is None


def test_the_same_gradients_in_each_graph_mode(graph_mode):
    images = tf.reshape(tf.linspace(0.0, 1.0, 2 * 8 * 8), [2, 8, 8, 1])
    loss = tf.reduce_mean(some_layers(images) ** 2)
    gradients = tf1.gradients(loss, tf1.trainable_variables())
    assert all(gradient is not None for gradient in gradients)
    with initialized_session() as session:
        assert all(np.isfinite(value).all() for value in session.run(gradients))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: layers.dense(x, 0), "units=0"),
        (lambda x: layers.conv2d(x, 1.5, 3), "filters=1.5"),
        (lambda x: layers.conv2d(x, 1, 0), "kernel_size=0"),
        (lambda x: layers.conv2d(x, 1, 1, strides=0), "strides=0"),
        (lambda x: layers.conv2d(x, 1, 1, padding="same"), "padding='same'.*'SAME', 'VALID'"),
        (lambda x: layers.batch_norm(x, training=True, momentum=1), "momentum=1 "),
        (lambda x: layers.dropout(x, rate=1, training=True), "rate=1 "),
        (lambda x: layers.flatten(tf1.placeholder(tf.float32, [2, None])), r"\(2, None\)"),
        (lambda x: layers.dense(tf1.placeholder(tf.float32, [2, None]), 1), r"\(2, None\)"),
        (lambda x: layers.dense(tf1.placeholder(tf.float32), 1), "<unknown>"),
    ],
)
def test_values_that_make_no_sense(graph, build, message):
    with pytest.raises(UsageError, match=message):
        build(tf.zeros([2, 4, 4, 1]))
