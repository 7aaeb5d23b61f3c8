"""The example of tf.estimator's documentation with exporters and early stopping, written anew.

Only the import is another one: code that says tf.estimator.X says tf_estimator.X.
"""

import os

import numpy as np
import tensorflow as tf
import tiny

from graphtrain import estimator as tf_estimator

tf1 = tf.compat.v1

RANDOM = np.random.RandomState(0)
X = RANDOM.uniform(-1, 1, [200, 2]).astype(np.float32)
Y = (X[:, 0] > X[:, 1]).astype(np.int64)
# Labels of noise: the longer the training, the worse.
NOISE_X, NOISE_Y = X[:20], RANDOM.randint(0, 2, 20)


def model_fn(features, labels, mode, params):
    weights = tf1.get_variable("weights", [2, 2], initializer=tf1.zeros_initializer())
    logits = features["x"] @ weights
    predictions = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == tf_estimator.ModeKeys.PREDICT:
        return tf_estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf1.metrics.accuracy(labels, predictions["class"])
    optimizer = tf1.train.AdagradOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return tf_estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


def more_accurate(best_eval_result, current_eval_result):
    return best_eval_result["accuracy"] < current_eval_result["accuracy"]


def run(model_dir, x, y, *, max_steps=120):
    """Trains and evaluates; returns the Estimator and what train_and_evaluate returned."""
    estimator = tf_estimator.Estimator(
        model_fn=model_fn,
        model_dir=str(model_dir),
        params={"learning_rate": 0.5},
        config=tf_estimator.RunConfig(save_checkpoints_steps=20, tf_random_seed=1),
    )
    feature_spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    receiver_fn = tf_estimator.export.build_parsing_serving_input_receiver_fn(feature_spec)
    early_stopping = tf_estimator.experimental.stop_if_no_decrease_hook(
        estimator,
        metric_name="loss",
        max_steps_without_decrease=40,
        run_every_secs=None,
        run_every_steps=20,
    )
    train_spec = tf_estimator.TrainSpec(
        input_fn=tf_estimator.inputs.numpy_input_fn(
            {"x": X}, Y, batch_size=50, num_epochs=None, shuffle=True
        ),
        max_steps=max_steps,
        hooks=[early_stopping],
    )
    eval_spec = tf_estimator.EvalSpec(
        input_fn=tf_estimator.inputs.numpy_input_fn({"x": x}, y, shuffle=False),
        steps=None,
        exporters=[
            tf_estimator.BestExporter("best", receiver_fn, compare_fn=more_accurate),
            tf_estimator.LatestExporter("latest", receiver_fn, exports_to_keep=2),
            tf_estimator.FinalExporter("final", receiver_fn),
        ],
    )
    return estimator, tf_estimator.train_and_evaluate(estimator, train_spec, eval_spec)


def exports(model_dir, name):
    """The exports of one exporter, oldest first."""
    directory = os.path.join(model_dir, "export", name)
    return [os.path.join(directory, n) for n in sorted(os.listdir(directory)) if n.isdigit()]


def test_a_run_that_goes_well(tmp_path):
    estimator, (metrics, results) = run(tmp_path, X, Y)
    assert metrics["accuracy"] > 0.95
    assert estimator.last_train_result.reason == "max_steps"
    assert len(exports(tmp_path, "latest")) == 2
    assert results[1:] == [os.fsencode(exports(tmp_path, name)[-1]) for name in ("latest", "final")]
    serve = tf.saved_model.load(exports(tmp_path, "final")[0]).signatures["serving_default"]
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[0.9, -0.9]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
    answer = serve(examples=tf.constant([example.SerializeToString()]))
    assert answer["class"].numpy().tolist() == [1]


def test_a_run_that_does_not(tmp_path):
    estimator, (metrics, _) = run(tmp_path, NOISE_X, NOISE_Y)
    result = estimator.last_train_result
    losses = tiny.scalars(tmp_path / "eval", "loss")
    best_step = min(losses, key=lambda pair: pair[1])[0]
    assert result.reason == "stop_requested"
    assert result.global_step == metrics["global_step"] == best_step + 40
    assert result.stop_reason.startswith("no decrease of loss for 40 steps")
    # Whoever starts the job again gets nothing worse, and no more training.
    best = exports(tmp_path, "best")
    again, _ = run(tmp_path, NOISE_X, NOISE_Y)
    assert again.last_train_result.global_step == result.global_step
    assert exports(tmp_path, "best") == best


def test_a_best_model_is_not_replaced_after_a_restart(tmp_path):
    run(tmp_path, X, Y, max_steps=40)
    best = exports(tmp_path, "best")
    run(tmp_path, NOISE_X, NOISE_Y, max_steps=80)
    assert exports(tmp_path, "best") == best
