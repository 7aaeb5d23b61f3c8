"""Train, evaluate, predict and export by a model_fn, as tf.estimator did."""
