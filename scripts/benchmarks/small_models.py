"""The models that loops are timed on: softmax regression, the MLP and the CNN, on the sample."""

import contextlib
import tempfile

import tensorflow as tf

import graphtrain
from graphtrain import datasets, hooks
from graphtrain.models.cnn import cnn_logits
from graphtrain.models.layers import dense, flatten
from graphtrain.models.mlp import mlp_logits
from graphtrain.session import inputs, loop, session_config

tf1 = tf.compat.v1

LOGITS = {
    "softmax": lambda images: dense(flatten(images), 10),
    "mlp": lambda images: mlp_logits(images, hidden_units=(128,)),
    "cnn": lambda images: cnn_logits(images, training=True),
}


def build(model, *, batch_size, searched):
    """Builds a model with its input in the default graph.

    Args:
      model: a key of `LOGITS`.
      batch_size: images in a batch.
      searched: whether the step is a line-search step.

    Returns:
      (train_op, loss).
    """
    data = datasets.load("sample")
    input_fn = datasets.image_input_fn(
        data.train_images, data.train_labels, batch_size=batch_size, shuffle=True, seed=1
    )
    features, labels = inputs.features_and_labels(input_fn())
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=LOGITS[model](features["image"])
        )
    )
    optimizer = tf1.train.GradientDescentOptimizer(0.01)
    if searched:
        optimizer = graphtrain.LineSearchOptimizer(optimizer)
    step = tf1.train.get_or_create_global_step()
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        return optimizer.minimize(loss, global_step=step), loss


def bare_loop(stack, model, **arguments):
    """A function of a number of steps that makes them by `session.run([train_op])`, no more."""
    with tf.Graph().as_default() as graph:
        train_op, _ = build(model, **arguments)
        session = tf1.Session(graph=graph)
        # Entered, it would make its graph the default one of whatever comes before its exit.
        stack.callback(session.close)
        session.run([tf1.global_variables_initializer(), tf1.tables_initializer()])
        inputs.initialize(session)

    def run(steps):
        for _ in range(steps):
            session.run([train_op])

    return run


def our_loop(stack, model, *, steps_per_run, config=None, **arguments):
    """The same by our loop, in a session with the default hooks of an Estimator's training."""
    directory = stack.enter_context(tempfile.TemporaryDirectory())
    with tf.Graph().as_default():
        train_op, loss = build(model, **arguments)
        tf1.summary.scalar("loss", loss)
        train_step = loop.prepare(train_op, loss, several_steps=steps_per_run != 1)
        session = stack.enter_context(
            graphtrain.MonitoredTrainingSession(
                checkpoint_dir=directory,
                hooks=[hooks.LogValuesHook({"loss": loss}, every_steps=100)],
                config=config or session_config.session_config(),
            )
        )
    return lambda steps: loop.run(session, train_step, steps=steps, steps_per_run=steps_per_run)


@contextlib.contextmanager
def quiet_log():
    """Keeps TensorFlow's log to errors."""
    before = tf1.logging.get_verbosity()
    tf1.logging.set_verbosity(tf1.logging.ERROR)
    try:
        yield
    finally:
        tf1.logging.set_verbosity(before)
