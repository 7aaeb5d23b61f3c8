"""What the processes of a test's cluster run: a small model, trained as the arguments say."""

import argparse
import sys
import time

import tensorflow as tf

import graphtrain
from graphtrain.experimental import make_early_stopping_hook

tf1 = tf.compat.v1


class SlowSteps(tf1.train.SessionRunHook):
    """Lets a step take as long as a larger model's would, and writes each step."""

    def __init__(self, secs):
        self._secs = secs

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(tf1.train.get_global_step())

    def after_run(self, run_context, run_values):
        time.sleep(self._secs)
        print("step", run_values.results, flush=True)


def model_fn(features, labels, mode, params):
    weights = tf1.get_variable("weights", [4, 1], initializer=tf1.zeros_initializer())
    bias = tf1.get_variable("bias", [1], initializer=tf1.zeros_initializer())
    predictions = features @ weights + bias
    if mode == graphtrain.ModeKeys.PREDICT:
        return graphtrain.EstimatorSpec(mode, predictions)
    loss = tf.reduce_mean(tf.square(predictions - labels))
    optimizer = tf1.train.AdamOptimizer(0.01)
    hooks = []
    if params.line_search:
        optimizer = graphtrain.LineSearchOptimizer(optimizer)
    if params.sync_replicas:
        count = params.sync_replicas
        optimizer = tf1.train.SyncReplicasOptimizer(optimizer, count, total_num_replicas=count)
        hooks.append(optimizer.make_session_run_hook(params.is_chief))
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return graphtrain.EstimatorSpec(
        mode, predictions, loss=loss, train_op=train_op, training_hooks=hooks
    )


def files_input_fn(batches):
    """Reads one of three files a shard, as it were: a worker beyond the third has none."""

    def input_fn(input_context):
        print("input", input_context, flush=True)
        files = tf.data.Dataset.range(3).shard(
            input_context.num_input_pipelines, input_context.input_pipeline_id
        )
        numbers = files.repeat() if batches is None else files.repeat(batches)
        return numbers.map(_batch)

    return input_fn


def _batch(number):
    features = tf.random.stateless_uniform([8, 4], [number, 1])
    return features, tf.reduce_sum(features, axis=1, keepdims=True)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("model_dir")
    parser.add_argument("--max_steps", type=int)
    parser.add_argument("--batches", type=int)
    parser.add_argument("--step_secs", type=float, default=0.0)
    parser.add_argument("--save_steps", type=int, default=20)
    parser.add_argument("--start_timeout_secs", type=float, default=40)
    parser.add_argument("--end_timeout_secs", type=float, default=20)
    parser.add_argument("--steps_per_run", type=int, default=1)
    parser.add_argument("--line_search", action="store_true")
    parser.add_argument("--sync_replicas", type=int)
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument("--stop_at", type=int, help="the chief stops all early at this step")
    parser.add_argument("--hint")
    return parser.parse_args()


def main(args):
    config = graphtrain.RunConfig(
        args.model_dir,
        save_checkpoints_steps=args.save_steps,
        start_timeout_secs=args.start_timeout_secs,
        end_timeout_secs=args.end_timeout_secs,
        steps_per_run=args.steps_per_run,
        log_step_count_steps=10,
        save_summary_steps=10,
    )
    args.is_chief = config.is_chief
    estimator = graphtrain.Estimator(model_fn, config=config, params=args)
    hooks = [SlowSteps(args.step_secs)]
    if args.stop_at:

        def should_stop():
            newest = estimator.latest_checkpoint()
            return newest is not None and int(newest.rpartition("-")[2]) >= args.stop_at

        hooks.append(make_early_stopping_hook(estimator, should_stop, None, 5))
    input_fn = files_input_fn(args.batches)
    if args.evaluate:
        train_spec = graphtrain.TrainSpec(input_fn, args.max_steps, hooks=hooks)
        exporter = graphtrain.export.FinalExporter("final", serving_input_fn)
        eval_spec = graphtrain.EvalSpec(
            files_input_fn(2), steps=None, exporters=[exporter], start_delay_secs=0
        )
        metrics, exported = graphtrain.train_and_evaluate(estimator, train_spec, eval_spec)
        print("metrics", metrics and int(metrics["global_step"]), exported, flush=True)
    else:
        estimator.train(input_fn, hooks=hooks, max_steps=args.max_steps)
    print("result", estimator.last_train_result, flush=True)


def serving_input_fn():
    features = tf1.placeholder(tf.float32, [None, 4])
    return graphtrain.export.TensorServingInputReceiver(features, features)


if __name__ == "__main__":
    tf1.logging.set_verbosity(tf1.logging.INFO)
    with graphtrain.saving_on_signals() as signals:
        try:
            main(arguments())
        except graphtrain.UsageError as mistake:
            sys.exit(f"error: {mistake}")
        except graphtrain.session.signals.Interrupted as interruption:
            print(interruption)
    sys.exit(signals.exit_code)
