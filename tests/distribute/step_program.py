"""What the workers of a test train in step; what they end with is written as JSON lines."""

import hashlib
import json
import os
import sys
import time
import types

import numpy as np
import tensorflow as tf

import graphtrain
from graphtrain import app
from graphtrain.distribute import all_reduce, choose
from graphtrain.models.layers import batch_norm
from graphtrain.session import inputs

tf1 = tf.compat.v1

EXAMPLES = 240
OPTIMIZERS = {
    "sgd": lambda: tf1.train.GradientDescentOptimizer(0.5 * graphtrain.learning_rate_scale()),
    "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf1.train.AdamOptimizer(0.05),
}


DEFAULTS = {
    "optimizer": "sgd",
    # bare, all_reduce, clipped, gradients or search
    "way": "all_reduce",
    "max_steps": 100,
    "batch_size": 8,
    # How many batches each worker has; None for no end.
    "batches": None,
    "save_steps": 20,
    "batch_norm": False,
    "stall_timeout_secs": 40,
    "start_timeout_secs": 40,
    "step_secs": 0,
    "own_graph": False,
    "on_not_finite": "raise",
    # The step whose loss is nan, as long as the rate is not scaled down.
    "nan_at": None,
}


def model_fn(features, labels, mode, params):
    weights = tf1.get_variable("weights", [6, 8], tf.float64)
    table = tf1.get_variable("table", [10, 8], tf.float64)
    hidden = tf.nn.tanh(features["x"] @ weights + tf.gather(table, features["id"]))
    if params.batch_norm:
        hidden = tf.cast(batch_norm(tf.cast(hidden, tf.float32), training=True), tf.float64)
    last = tf1.get_variable("last", [8, 1], tf.float64)
    loss = tf.reduce_mean(tf.square((hidden @ last)[:, 0] - labels))
    # How many rows a worker touches here differs from step to step.
    some = tf.gather(table, tf.boolean_mask(features["id"], features["x"][:, 0] > 0))
    loss += 0.01 * tf.reduce_sum(tf.square(some)) / tf.cast(tf.shape(labels)[0], tf.float64)
    optimizer = OPTIMIZERS[params.optimizer]()
    step = tf1.train.get_global_step()
    if params.nan_at is not None:
        is_bad = tf.equal(step, params.nan_at) & tf.equal(graphtrain.learning_rate_scale(), 1.0)
        loss *= tf.where(is_bad, tf.constant(float("nan"), tf.float64), 1.0)
    hooks = [ToldSteps(params.step_secs)]
    if params.way == "search":
        optimizer = graphtrain.LineSearchOptimizer(
            optimizer, condition="armijo", first_scale="grow", shrink=0.5
        )
        train_op = optimizer.minimize(loss, global_step=step)
        hooks.append(Trials(optimizer.trials))
    elif params.way == "clipped":
        optimizer = graphtrain.AllReduceOptimizer(optimizer)
        gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, 0.5)
        train_op = optimizer.apply_gradients(zip(clipped, variables, strict=True), step)
    elif params.way == "gradients":
        variables = tf1.trainable_variables()
        gradients = tf.gradients(loss, variables)
        optimizer = graphtrain.AllReduceOptimizer(optimizer)
        train_op = optimizer.apply_gradients(zip(gradients, variables, strict=True), step)
    else:
        if params.way == "all_reduce":
            optimizer = graphtrain.AllReduceOptimizer(optimizer)
        train_op = optimizer.minimize(loss, global_step=step)
    return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)


class ToldSteps(tf1.train.SessionRunHook):
    """Writes each step; at the end a sum of all variables' bits, and the values of three."""

    def __init__(self, step_secs):
        self._step_secs = step_secs

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(tf1.train.get_global_step())

    def after_run(self, run_context, run_values):
        print("step", run_values.results, flush=True)
        time.sleep(self._step_secs)

    def end(self, session):
        variables = sorted(tf1.global_variables(), key=lambda variable: variable.name)
        values = {variable.op.name: session.run(variable) for variable in variables}
        bits = hashlib.sha256()
        for name, value in values.items():
            bits.update(name.encode() + np.asarray(value).tobytes())
        weights = {name: values[name].tolist() for name in ("weights", "table", "last")}
        tell(bits=bits.hexdigest(), weights=weights, variables=list(values))


class Trials(tf1.train.SessionRunHook):
    """Writes how many trials each step took."""

    def __init__(self, trials):
        self._trials, self._seen = trials, []

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(self._trials)

    def after_run(self, run_context, run_values):
        self._seen.append(int(run_values.results))

    def end(self, session):
        tell(trials=self._seen)


def tell(**facts):
    print("TOLD", json.dumps(facts), flush=True)


def input_fn_of(args):
    """Shards by rows: with N workers, batches of B / N make together the batch of B."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(EXAMPLES, 6))
    rows = ({"x": x, "id": np.arange(EXAMPLES) % 10}, np.sin(x.sum(axis=1)))

    def input_fn(input_context):
        count, index = input_context.num_input_pipelines, input_context.input_pipeline_id
        dataset = tf.data.Dataset.from_tensor_slices(rows).shard(count, index)
        size = args.batch_size // input_context.num_replicas_in_sync
        dataset = dataset.batch(size).repeat()
        return dataset.take(args.batches[index]) if args.batches else dataset

    return input_fn


def main(model_dir, scenarios):
    """Trains one scenario after the other; returns the exit code."""
    with graphtrain.saving_on_signals() as signals:
        for number, scenario in enumerate(scenarios):
            args = types.SimpleNamespace(**scenario)
            config = config_of(os.path.join(model_dir, str(number)), args)
            (train_own_graph if args.own_graph else train)(config, args)
    return signals.exit_code


def config_of(model_dir, args):
    return graphtrain.RunConfig(
        model_dir,
        tf_random_seed=1,
        save_checkpoints_steps=args.save_steps,
        start_timeout_secs=args.start_timeout_secs,
        stall_timeout_secs=args.stall_timeout_secs,
        log_step_count_steps=10,
        save_summary_steps=10,
        safety=graphtrain.SafetyConfig(on_not_finite=args.on_not_finite),
    )


def train(config, args):
    estimator = graphtrain.Estimator(model_fn, config=config, params=args)
    estimator.train(input_fn_of(args), max_steps=args.max_steps)
    result = estimator.last_train_result
    tell(
        step=result.global_step,
        loss=result.loss,
        reason=result.reason,
        stop_reason=result.stop_reason,
    )


def train_own_graph(config, args):
    """Trains without an Estimator, as docs/clusters.md tells."""
    mode = choose.mode_of(config)
    mode.start()
    with tf.Graph().as_default(), mode.building():
        tf1.set_random_seed(config.tf_random_seed)
        tf1.train.create_global_step()
        dataset = input_fn_of(args)(mode.input_context())
        features, labels = inputs.features_and_labels(dataset)
        spec = model_fn(features, labels, graphtrain.ModeKeys.TRAIN, args)
        stops = StopsAt(args.max_steps)
        with graphtrain.MonitoredTrainingSession(
            master=mode.master,
            config=mode.session_config(None),
            checkpoint_dir=config.model_dir,
            save_checkpoint_steps=args.save_steps,
            hooks=[*spec.training_hooks, stops],
            before_session=mode.before_session,
        ) as session:
            while not session.should_stop():
                session.run(spec.train_op)
    tell(step=stops.step, stop_reason=session.stop_reason)


class StopsAt(tf1.train.SessionRunHook):
    """Asks for a stop, on the chief alone: the others have to hear of it."""

    def __init__(self, last_step):
        self._left = last_step

    def on_session(self, session):
        self._session = session

    def after_run(self, run_context, run_values):
        self._left -= 1
        group = all_reduce.of_default_graph()
        if self._left == 0 and (group is None or group.is_chief):
            self._session.request_stop("that was enough")

    def end(self, session):
        self.step = int(session.run(tf1.train.get_global_step()))


if __name__ == "__main__":
    tf1.logging.set_verbosity(tf1.logging.INFO)
    directory, given = sys.argv[1:]
    sys.argv[1:] = ["--verbosity=0"]
    app.run(lambda values: main(directory, [{**DEFAULTS, **own} for own in json.loads(given)]))
