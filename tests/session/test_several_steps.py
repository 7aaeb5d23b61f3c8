"""Several steps in one run are the same steps."""

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import inputs
from graphtrain.session.several_steps import add_extra_steps

tf1 = tf.compat.v1

ROWS = np.random.RandomState(0).rand(64, 20).astype(np.float32)
DIGITS = np.random.RandomState(1).randint(0, 10, 64)

OPTIMIZERS = {
    "sgd": lambda: tf1.train.GradientDescentOptimizer(0.5),
    "momentum": lambda: tf1.train.MomentumOptimizer(0.5, 0.9),
    "adam": lambda: tf1.train.AdamOptimizer(0.01),
    "search": lambda: graphtrain.LineSearchOptimizer(
        tf1.train.GradientDescentOptimizer(50.0), condition="armijo", first_scale="grow"
    ),
}


def model(make_optimizer, *, with_control_flow=False, epochs=None):
    dataset = tf.data.Dataset.from_tensor_slices((ROWS, DIGITS))
    dataset = dataset.shuffle(64, seed=1).repeat(epochs).batch(8, drop_remainder=True)
    rows, digits = inputs.features_and_labels(dataset)
    init = tf1.glorot_uniform_initializer(seed=1)
    logits = tf.matmul(rows, tf1.get_variable("w", [20, 10], initializer=init))
    if with_control_flow:
        r = tf1.get_variable("r", [10, 10], initializer=init)
        logits = tf.while_loop(
            lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, r))), (0, logits)
        )[1]
        logits = tf.cond(tf.reduce_sum(logits) > 0, lambda: logits * 2, lambda: logits * 3)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=digits, logits=logits)
    )
    step = tf1.train.get_or_create_global_step()
    return loss, make_optimizer().minimize(loss, global_step=step)


def trained(steps_per_run, steps, make_optimizer, **arguments):
    """The loss of the last step and all variables after some steps."""
    with tf.Graph().as_default():
        loss, train_op = model(make_optimizer, **arguments)
        extra_steps = add_extra_steps(train_op)
        with graphtrain.MonitoredTrainingSession() as session:
            for start in range(0, steps, steps_per_run):
                count = min(steps_per_run, steps - start)
                last_loss = session.run([loss, train_op], {extra_steps: count - 1})[0]
            return [last_loss, *session.run(tf1.global_variables())]


@pytest.mark.parametrize("with_control_flow", [False, True])
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_equal_single_steps_bit_for_bit(flow_mode, make, with_control_flow):
    runs = [
        trained(steps_per_run, 30, make, with_control_flow=with_control_flow)
        for steps_per_run in (1, 7, 30)
    ]
    for run in runs[1:]:
        for single, several in zip(runs[0], run, strict=True):
            assert single.tobytes() == several.tobytes()


def test_ref_variables_are_refused(graph):
    w = tf1.get_variable("w", initializer=1.0, use_resource=False)
    train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(w * w)
    with pytest.raises(graphtrain.UsageError, match="cannot be had with the ref variable 'w'"):
        add_extra_steps(train_op)


def train(steps_per_run, hooks=(), *, max_steps=100, model_dir=None, epochs=None, **settings):
    def model_fn(features, labels, mode):
        w = tf1.get_variable("w", [20, 10], initializer=tf1.glorot_uniform_initializer(seed=1))
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=tf.matmul(features, w)
            )
        )
        step = tf1.train.get_global_step()
        train_op = tf1.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
        tf1.summary.scalar("step", step)
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn():
        dataset = tf.data.Dataset.from_tensor_slices((ROWS, DIGITS))
        return dataset.shuffle(64, seed=1).repeat(epochs).batch(8)

    config = graphtrain.RunConfig(steps_per_run=steps_per_run, **settings)
    estimator = graphtrain.Estimator(model_fn, model_dir, config)
    return estimator.train(input_fn, hooks=hooks, max_steps=max_steps)


class Seen(tf1.train.SessionRunHook):
    """A hook of somebody's own, called once a run; it reads the step as TensorFlow's hooks do."""

    def __init__(self):
        self.steps = []

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(tf1.train.get_global_step())

    def after_run(self, run_context, run_values):
        self.steps.append(int(run_context.session.run(tf1.train.get_global_step())))


@pytest.mark.parametrize("steps_per_run", [1, 8, 1000, "auto"])
def test_limits_and_boundaries_are_met(flow_mode, tmp_path, steps_per_run):
    saved = []

    class Listener(tf1.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            saved.append(int(global_step_value))

    def model_fn(features, labels, mode):
        w = tf1.get_variable("w", [20, 10], initializer=tf1.glorot_uniform_initializer(seed=1))
        loss = tf.reduce_mean(tf.square(tf.matmul(features, w)))
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(
            loss, global_step=tf1.train.get_global_step()
        )
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    config = graphtrain.RunConfig(
        steps_per_run=steps_per_run, save_checkpoints_steps=30, save_summary_steps=25
    )
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), config)
    estimator.train(
        lambda: tf.data.Dataset.from_tensor_slices((ROWS, DIGITS)).repeat().batch(8),
        max_steps=100,
        saving_listeners=[Listener()],
    )
    assert saved == [0, 30, 60, 90, 100]
    assert estimator.last_train_result.global_step == 100
    steps = [
        event.step
        for path in tmp_path.glob("events*")
        for event in tf1.train.summary_iterator(str(path))
        if any(value.tag == "loss" for value in event.summary.value)
    ]
    assert steps == [1, 25, 50, 75, 100]


def test_a_hook_of_the_users_sees_the_last_step_of_each_run(flow_mode, tmp_path):
    hook = Seen()
    train(
        30, [hook], model_dir=str(tmp_path), save_summary_steps=50, save_checkpoints_steps=1000,
        log_step_count_steps=1000,
    )  # fmt: skip
    assert hook.steps == [1, 31, 50, 80, 100]


@pytest.mark.parametrize("steps_per_run", [1, 5, 100])
def test_the_end_of_the_data_loses_no_step(flow_mode, tmp_path, steps_per_run):
    estimator = train(steps_per_run, model_dir=str(tmp_path), max_steps=None, epochs=3)
    result = estimator.last_train_result
    assert (result.global_step, result.reason) == (24, "end_of_data")
    assert estimator.get_variable_value("global_step") == 24
    whole = train(1, model_dir=str(tmp_path / "other"), max_steps=24, epochs=None)
    np.testing.assert_array_equal(estimator.get_variable_value("w"), whole.get_variable_value("w"))
    assert result.loss == whole.last_train_result.loss


def test_nan_ends_a_run_of_several_steps(tmp_path):
    def model_fn(features, labels, mode):
        w = tf1.get_variable("w", initializer=1.0)
        loss = w * tf.cast(features, tf.float32)
        step = tf1.train.get_global_step()
        train_op = tf1.train.GradientDescentOptimizer(float("inf")).minimize(loss, global_step=step)
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    config = graphtrain.RunConfig(steps_per_run=10)
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), config)
    with pytest.raises(tf1.train.NanLossDuringTrainingError):
        estimator.train(lambda: tf.data.Dataset.range(100), max_steps=50)


@pytest.mark.parametrize("own_threads", [False, True])
def test_one_thread_of_the_session_is_enough(flow_mode, own_threads):
    """Of which none may be kept waiting for a dataset that needs it."""
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(1, 100).map(
            lambda x: tf.reduce_sum(tf.range(x)) - tf.reduce_sum(tf.range(x - 1))
        )
        if own_threads:
            options = tf.data.Options()
            options.threading.private_threadpool_size = 1
            dataset = dataset.with_options(options)
        value, _ = inputs.features_and_labels(dataset.prefetch(2))
        total = tf1.get_variable("total", initializer=np.int64(0))
        step = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        train_op = tf.group(tf1.assign_add(total, value), step)
        extra_steps = add_extra_steps(train_op)
        config = tf1.ConfigProto(
            inter_op_parallelism_threads=1,
            intra_op_parallelism_threads=1,
            operation_timeout_in_ms=60_000,
        )
        with graphtrain.MonitoredTrainingSession(config=config) as session:
            session.run(train_op, {extra_steps: 49})
            session.run(train_op, {extra_steps: 48})
            assert session.run(total) == sum(range(99))
            with pytest.raises(tf.errors.OutOfRangeError) as caught:
                session.run(train_op, {extra_steps: 9})
            assert inputs.is_end_of_input(caught.value, session.graph)
