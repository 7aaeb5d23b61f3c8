"""What programs written for tf.estimator do, seen again and again in public code."""

import argparse
import functools
import types

import numpy as np
import pytest
import tensorflow as tf
import tiny

import graphtrain

tf1 = tf.compat.v1


def one_step_spec(mode, loss=None):
    weight = tf1.get_variable("w", initializer=1.0)
    loss = tf.square(weight) if loss is None else loss * tf.square(weight)
    optimizer = tf1.train.GradientDescentOptimizer(0.25)
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    predictions = {"w": tf.reshape(weight + 0 * loss, [1])}
    return graphtrain.EstimatorSpec(mode, predictions, loss, train_op)


class Model:
    def __call__(self, features, labels, mode, params, config):
        return one_step_spec(mode)

    @staticmethod
    def static(labels, mode, features):
        return one_step_spec(mode)

    @classmethod
    def of_class(cls, features, labels):
        return one_step_spec("train")


def all_in_another_order(config, params, mode, labels, features):
    return one_step_spec(mode)


def with_extra(units, features, labels, mode, params=None, config=None):
    assert units == 8
    return one_step_spec(mode)


MODEL_FNS = {
    "callable object": Model(),
    "static method": Model.static,
    "class method": Model.of_class,
    "another order": all_in_another_order,
    "partial by position": functools.partial(with_extra, 8),
    "partial by keyword": functools.partial(with_extra, units=8),
    "partial of a partial": functools.partial(functools.partial(with_extra, 8), params={}),
    "lambda": lambda features, labels, mode: one_step_spec(mode),
    "extra keywords": lambda features, labels, mode, **kwargs: one_step_spec(mode),
}


@pytest.mark.parametrize("kind", MODEL_FNS)
def test_model_fns(tmp_path, kind):
    estimator = graphtrain.Estimator(MODEL_FNS[kind], str(tmp_path))
    estimator.train(tiny.ones(), steps=2)
    assert estimator.get_variable_value("w") == 0.25


class HParams:
    """Like tf.contrib's: attributes, items, and no dict."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __getitem__(self, name):
        return self.__dict__[name]


PARAMS = {
    "dict": dict,
    "hparams": HParams,
    "namespace": types.SimpleNamespace,
    "argparse": argparse.Namespace,
}


@pytest.mark.parametrize("kind", PARAMS)
def test_params_of_every_kind_are_copied(tmp_path, kind):
    params = PARAMS[kind](batch_size=2, rates=[0.25])
    seen = []

    def value(holder, name):
        return holder[name] if isinstance(holder, (dict, HParams)) else getattr(holder, name)

    def model_fn(features, labels, mode, params):
        seen.append((features.shape[0], list(value(params, "rates"))))
        value(params, "rates").append(7)
        return one_step_spec(mode)

    def input_fn(params):
        batch_size = value(params, "batch_size")
        return tf.data.Dataset.from_tensors(np.ones(batch_size, np.float32)).repeat()

    def features_only(features, mode, params):
        return model_fn(features, None, mode, params)

    estimator = graphtrain.Estimator(features_only, str(tmp_path), params=params)
    value(params, "rates").append(9)
    for _ in range(2):
        estimator.train(input_fn, steps=1)
    assert seen == [(2, [0.25])] * 2
    assert value(estimator.params, "rates") == [0.25]


FEATURES, LABELS = np.ones(2, np.float32), np.zeros(2, np.float32)
INPUT_FNS = {
    "dataset": lambda: tf.data.Dataset.from_tensors((FEATURES, LABELS)).repeat(),
    "dataset of dicts": lambda: tf.data.Dataset.from_tensors(({"x": FEATURES}, {"y": LABELS})),
    "dataset of features": lambda: tf.data.Dataset.from_tensors({"x": FEATURES}),
    "tensors": lambda: (tf.constant(FEATURES), tf.constant(LABELS)),
    "list of tensors": lambda: [tf.constant(FEATURES), tf.constant(LABELS)],
    "dict and tensor": lambda: ({"x": tf.constant(FEATURES)}, tf.constant(LABELS)),
    "one dict": lambda: {"x": tf.constant(FEATURES)},
    "one tensor": lambda: tf.constant(FEATURES),
    "features and None": lambda: (tf.constant(FEATURES), None),
    "one shot iterator": lambda: tf1.data.make_one_shot_iterator(
        tf.data.Dataset.from_tensors((FEATURES, LABELS))
    ).get_next(),
}


@pytest.mark.parametrize("kind", INPUT_FNS)
def test_input_fns(tmp_path, kind):
    def model_fn(features, labels, mode):
        has_labels = not ("features" in kind or "one dict" in kind or "one tensor" in kind)
        assert (labels is not None) == (has_labels and mode != "infer")
        values = features["x"] if isinstance(features, dict) else features
        return one_step_spec(mode, tf.reduce_mean(values))

    estimator = graphtrain.Estimator(model_fn, str(tmp_path))
    estimator.train(INPUT_FNS[kind], steps=1)
    assert estimator.evaluate(INPUT_FNS[kind], steps=1)["loss"] == 0.25
    predictions = estimator.predict(INPUT_FNS[kind])
    assert next(predictions) == {"w": 0.5}
    predictions.close()


def test_everything_is_given_in_every_mode(graph_mode, tmp_path):
    def model_fn(features, labels, mode):
        labels = tf.zeros_like(features) if labels is None else labels
        spec = tiny.halving_model_fn(features, labels, "eval", {})
        outputs = {"serving_default": graphtrain.export.PredictOutput(spec.predictions)}
        return graphtrain.EstimatorSpec(
            **{**spec._asdict(), "mode": mode, "export_outputs": outputs}
        )

    estimator = graphtrain.Estimator(model_fn, str(tmp_path)).train(tiny.ones(), steps=2)
    assert estimator.evaluate(tiny.ones(3))["error"] == 0.25
    assert [p["product"] for p in estimator.predict(tiny.ones(2))] == [0.25, 0.25]
    assert estimator.get_variable_value("w") == 0.25


def test_the_step_is_advanced_outside_of_the_optimizer(graph_mode, tmp_path):
    def model_fn(features, labels, mode):
        loss = tf.square(tf1.get_variable("w", initializer=1.0))
        minimize = tf1.train.GradientDescentOptimizer(0.25).minimize(loss)
        with tf.control_dependencies([minimize]):
            train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op.op)

    estimator = graphtrain.Estimator(model_fn, str(tmp_path)).train(tiny.ones(), max_steps=3)
    assert estimator.last_train_result.global_step == 3


def test_a_step_of_ones_own_in_a_graph_of_ones_own(graph_mode, tmp_path):
    weight = tf1.get_variable("w", initializer=1.0)
    step = tf1.get_variable("my_step", [], tf.int32, tf1.zeros_initializer(), trainable=False)
    tf1.add_to_collection(tf1.GraphKeys.GLOBAL_STEP, step)
    train_op = tf1.train.GradientDescentOptimizer(0.25).minimize(tf.square(weight), step)
    hook = tf1.train.StopAtStepHook(last_step=3)
    with graphtrain.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[hook]) as session:
        while not session.should_stop():
            session.run(train_op)
    assert tf.train.load_variable(str(tmp_path), "my_step") == 3


def test_a_scaffold_that_chooses_everything(graph_mode, tmp_path):
    calls = []

    def model_fn(features, labels, mode, params):
        spec = tiny.halving_model_fn(features, labels, mode, params)
        local = tf1.get_local_variable("local", initializer=0.0)
        weight = tf1.global_variables("w:")[0]
        start = tf1.placeholder(tf.float32, [])
        with tf.control_dependencies([tf1.global_variables_initializer()]):
            init_op = tf1.assign(weight, start)
        scaffold = tf1.train.Scaffold(
            init_op=init_op,
            init_feed_dict={start: 8.0},
            init_fn=lambda scaffold, session: calls.append(scaffold.saver),
            local_init_op=tf1.variables_initializer([local]),
            ready_for_local_init_op=tf1.report_uninitialized_variables(tf1.global_variables()),
            ready_op=tf1.report_uninitialized_variables(tf1.global_variables()),
            saver=tf1.train.Saver(max_to_keep=1),
        )
        if mode != graphtrain.ModeKeys.PREDICT:
            spec = spec._replace(loss=spec.loss + local)
        return spec._replace(scaffold=scaffold)

    config = graphtrain.RunConfig(save_checkpoints_steps=1)
    estimator = graphtrain.Estimator(model_fn, str(tmp_path), config, {})
    estimator.train(tiny.ones(), max_steps=2)
    assert estimator.get_variable_value("w") == 2.0
    assert len(calls) == 1 and isinstance(calls[0], tf1.train.Saver)
    assert len(list(tmp_path.glob("*.index"))) == 1
    assert estimator.evaluate(tiny.ones(2))["loss"] == 4.0
    assert next(estimator.predict(tiny.ones(2)))["product"] == 2.0


def queue_input(epochs):
    def input_fn():
        (x,) = tf1.train.slice_input_producer(
            [tf.constant([1.0, 1.0, 1.0, 1.0])], num_epochs=epochs, shuffle=False
        )
        features = tf1.train.batch([x], batch_size=2)
        return features, tf.zeros_like(features)

    return input_fn


def test_queue_runners_and_their_coordinator(tmp_path):
    estimator = tiny.halving(tmp_path).train(queue_input(epochs=3))
    result = estimator.last_train_result
    assert (result.global_step, result.reason) == (6, "end_of_data")
    assert estimator.evaluate(queue_input(epochs=1))["error"] == 2.0**-6
    assert len(list(estimator.predict(queue_input(epochs=1)))) == 4


def test_lookup_tables(graph_mode, tmp_path):
    words = tf.lookup.KeyValueTensorInitializer

    def table():
        return tf.lookup.StaticHashTable(words(["a", "b"], [1.0, 2.0]), 0.0)

    def input_fn():
        in_the_input = table()
        dataset = tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).repeat(2)
        return dataset.map(lambda word: (word, in_the_input.lookup(word))).batch(3)

    def model_fn(features, labels, mode):
        loss = tf.reduce_sum(table().lookup(features))
        if labels is not None:
            loss += tf.reduce_sum(labels)
        return one_step_spec(mode, loss)

    estimator = graphtrain.Estimator(model_fn, str(tmp_path)).train(input_fn)
    assert estimator.last_train_result.global_step == 2
    assert len(list(estimator.predict(input_fn))) == 2


class OpensItsOwnSession(tf1.train.SessionRunHook):
    """Computes by a graph and a session of its own in each of a hook's methods."""

    def __init__(self):
        self.values = []

    def _compute(self):
        with tf.Graph().as_default(), tf1.Session() as session:
            weight = tf1.get_variable("w", initializer=3.0)
            session.run(tf1.global_variables_initializer())
            self.values.append(session.run(weight))

    def begin(self):
        self._compute()

    def after_create_session(self, session, coord):
        self._compute()

    def after_run(self, run_context, run_values):
        self._compute()

    def end(self, session):
        self._compute()


def test_a_hook_with_a_session_of_its_own(tmp_path):
    hook = OpensItsOwnSession()
    tiny.halving(tmp_path).train(tiny.ones(), hooks=[hook], steps=2)
    assert hook.values == [3.0] * 5


class Feeds(tf1.train.SessionRunHook):
    def __init__(self, name, value, *, by_variable=False):
        self._name, self._value, self._by_variable = name, value, by_variable

    def begin(self):
        if self._by_variable:
            (self._key,) = tf1.global_variables(self._name)
        else:
            self._key = tf1.get_default_graph().get_tensor_by_name(self._name)

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(self._key, feed_dict={self._key: self._value})

    def after_run(self, run_context, run_values):
        self.seen = run_values.results


def rate_model_fn(features, labels, mode):
    """Loss w^2 with a rate that is no placeholder but may be fed, or is a variable."""
    rate = tf.constant(0.25, name="rate")
    factor = tf1.get_variable("factor", initializer=1.0, trainable=False)
    weight = tf1.get_variable("w", initializer=1.0)
    optimizer = tf1.train.GradientDescentOptimizer(rate * factor)
    loss = tf.square(weight)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)


def test_a_hook_that_feeds_what_is_no_placeholder(graph_mode, tmp_path):
    estimator = graphtrain.Estimator(rate_model_fn, str(tmp_path))
    estimator.train(tiny.ones(), hooks=[Feeds("rate:0", 0.125)], steps=1)
    assert estimator.get_variable_value("w") == 0.75


def test_a_hook_that_feeds_a_variable(graph_mode, tmp_path):
    hook = Feeds("factor:", 0.0, by_variable=True)
    estimator = graphtrain.Estimator(rate_model_fn, str(tmp_path))
    estimator.train(tiny.ones(), hooks=[hook], steps=1)
    assert hook.seen == 0.0
    assert estimator.get_variable_value("factor") == 1.0


def test_a_prediction_that_is_broken_off_closes_its_session(tmp_path):
    estimator = tiny.halving(tmp_path).train(tiny.ones(), steps=1)
    sessions = []

    class Keeps(tf1.train.SessionRunHook):
        def after_create_session(self, session, coord):
            sessions.append(session)

    predictions = estimator.predict(tiny.ones(), hooks=[Keeps()])
    next(predictions)
    predictions.close()
    with pytest.raises(RuntimeError, match="closed"):
        sessions[0].run(sessions[0].graph.get_operations()[0])
