"""Trains, evaluates, predicts from and exports model_fns over tf.layers and Keras 2.

Run by test_legacy_keras.py in a process of its own, in which TF_USE_LEGACY_KERAS is set:

    TF_USE_LEGACY_KERAS=1 python legacy_keras_models.py DIRECTORY
"""

import json
import sys

import numpy as np
import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1
FEATURES = np.array([[10.0, 0.0], [0.0, 10.0], [10.0, 10.0]], np.float32)
LABELS = np.array([0, 1, 2], np.int64)


def layers_net(features, training):
    """tf.layers: its batch norm fills UPDATE_OPS."""
    net = tf1.layers.batch_normalization(features, momentum=0.5, training=training)
    net = tf1.layers.dense(net, 8, activation=tf.nn.relu)
    net = tf1.layers.dropout(net, 0.1, seed=1, training=training)
    return tf1.layers.dense(net, 3)


def keras_net(features, training):
    """A Keras model: its updates are asked of the model."""
    inputs = tf1.keras.Input([2])
    net = tf1.keras.layers.BatchNormalization(momentum=0.5)(inputs)
    net = tf1.keras.layers.Dense(8, activation="relu")(net)
    model = tf1.keras.Model(inputs, tf1.keras.layers.Dense(3)(net))
    logits = model(features, training=training)
    for update in model.get_updates_for(features):
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
    return logits


def model_fn(features, labels, mode, params):
    logits = params["net"](features["x"], mode == graphtrain.ModeKeys.TRAIN)
    predictions = {"class": tf.argmax(logits, 1), "logits": logits}
    if mode == graphtrain.ModeKeys.PREDICT:
        return graphtrain.EstimatorSpec(mode, predictions)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = graphtrain.LineSearchOptimizer(tf1.train.GradientDescentOptimizer(0.5))
    if params["net"] is keras_net:
        optimizer = tf1.train.AdamOptimizer(0.05)
    return graphtrain.EstimatorSpec(
        mode,
        predictions,
        loss,
        optimizer.minimize(loss, tf1.train.get_global_step()),
        {"accuracy": tf1.metrics.accuracy(labels, predictions["class"])},
    )


def input_fn(batches):
    return lambda: tf.data.Dataset.from_tensors(({"x": FEATURES}, LABELS)).repeat(batches)


def receiver_fn():
    features = {"x": tf1.placeholder(tf.float32, [None, 2], "x")}
    return graphtrain.export.ServingInputReceiver(features, features)


def tell(net, directory):
    """What came of one model."""
    config = graphtrain.RunConfig(tf_random_seed=1)
    estimator = graphtrain.Estimator(model_fn, f"{directory}/run", config, {"net": net})
    estimator.train(input_fn(None), max_steps=30).train(input_fn(None), max_steps=60)
    metrics = estimator.evaluate(input_fn(1))
    (predicted,) = estimator.predict(input_fn(1), yield_single_examples=False)
    exported = estimator.export_saved_model(f"{directory}/export", receiver_fn).decode()
    serve = tf.saved_model.load(exported).signatures["serving_default"]
    served = serve(x=tf.constant(FEATURES))["logits"].numpy()
    (mean,) = (n for n in estimator.get_variable_names() if n.endswith("moving_mean"))
    return {
        "accuracy": float(metrics["accuracy"]),
        "served_as_predicted": bool(np.allclose(served, predicted["logits"], rtol=1e-5)),
        "moving_mean": estimator.get_variable_value(mean).tolist(),
        "variables": sorted(v for v in estimator.get_variable_names() if "Adam" not in v),
    }


if __name__ == "__main__":
    tf1.logging.set_verbosity(tf1.logging.ERROR)
    results = {
        net.__name__: tell(net, f"{sys.argv[1]}/{net.__name__}") for net in (layers_net, keras_net)
    }
    print(json.dumps(results))
