"""A model_fn and its input for tf.estimator 2.15 and for graphtrain.estimator alike."""

import tensorflow as tf

tf1 = tf.compat.v1

FEATURES = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, -1.0]]
LABELS = [0, 1, 2, 1]


def make_estimator(estimator, model_dir):
    """Makes the Estimator; only `estimator`, the module, says whose."""

    def model_fn(features, labels, mode, params):
        hidden = tf.nn.relu(dense("hidden", features["x"], params["units"]))
        logits = dense("logits", hidden, 3)
        predictions = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
        if mode == estimator.ModeKeys.PREDICT:
            output = estimator.export.PredictOutput(predictions)
            return estimator.EstimatorSpec(mode, predictions, export_outputs={"predict": output})
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf1.train.get_global_step()
        rate = tf1.train.exponential_decay(0.1, step, decay_steps=10, decay_rate=0.9)
        train_op = tf1.train.AdamOptimizer(rate).minimize(loss, global_step=step)
        metrics = {"accuracy": tf1.metrics.accuracy(labels, predictions["class"])}
        tf1.summary.scalar("learning_rate", rate)
        return estimator.EstimatorSpec(mode, predictions, loss, train_op, metrics)

    config = estimator.RunConfig(
        model_dir=str(model_dir),
        tf_random_seed=7,
        save_checkpoints_steps=10,
        keep_checkpoint_max=2,
        save_summary_steps=5,
        log_step_count_steps=5,
    )
    return estimator.Estimator(model_fn, config=config, params={"units": 4})


def dense(name, inputs, units):
    with tf1.variable_scope(name):
        kernel = tf1.get_variable("kernel", [inputs.shape[-1], units])
        bias = tf1.get_variable("bias", [units], initializer=tf1.zeros_initializer())
    return inputs @ kernel + bias


def input_fn(batches=None):
    return tf.data.Dataset.from_tensors(({"x": FEATURES}, LABELS)).repeat(batches)


def serving_input_receiver_fn(export):
    x = tf1.placeholder(tf.float32, [None, 2], "x")
    return export.ServingInputReceiver({"x": x}, {"x": x})
