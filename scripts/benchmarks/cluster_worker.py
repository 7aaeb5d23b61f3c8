"""One process of the case `cluster`: trains, times its steps, and writes what it found as JSON."""

import json
import sys
import time

import tensorflow as tf

import graphtrain
from graphtrain.distribute import all_reduce

tf1 = tf.compat.v1

WARM_UP_STEPS = 10


class Meter(tf1.train.SessionRunHook):
    """Times the steps after the first few, and counts what went over the loopback device."""

    def begin(self):
        """Counts the sums of the graph."""
        self.collectives = all_reduce.sums_in(tf1.get_default_graph())
        self._secs, self._began = [], None

    def before_run(self, run_context):
        """Starts the clock."""
        if len(self._secs) == WARM_UP_STEPS:
            self._step = _global_step(run_context.session)
            self._bytes = loopback_bytes()
        self._began = time.perf_counter()

    def after_run(self, run_context, run_values):
        """Reads the clock."""
        self._secs.append(time.perf_counter() - self._began)

    def end(self, session):
        """Writes what was found."""
        timed = self._secs[WARM_UP_STEPS:]
        if not timed:
            return  # Another worker has made the steps before this one had begun.
        sent = loopback_bytes() - self._bytes
        sent /= _global_step(session) - self._step
        found = {"secs": timed, "bytes": sent, "collectives": self.collectives}
        print(f"FOUND {json.dumps(found)}", flush=True)


def _global_step(session):
    return int(session.run(tf1.train.get_global_step()))


def loopback_bytes():
    """Returns the bytes sent so far over the loopback device, by all processes."""
    with open("/proc/net/dev") as lines:
        (line,) = (line for line in lines if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[8])


def _model_fn(features, labels, mode, params):
    width = int(params["weights"] ** 0.5)
    weights = tf1.get_variable("weights", [width, width])
    net = tf.tile(features, [1, width])
    loss = tf.reduce_mean(tf.square(tf.matmul(net, weights) - labels))
    optimizer = tf1.train.GradientDescentOptimizer(1e-3)
    if params["searched"]:
        optimizer = graphtrain.LineSearchOptimizer(optimizer, condition="armijo")
    else:
        optimizer = graphtrain.AllReduceOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _input_fn(params, input_context):
    size = params["batch_size"] // input_context.num_input_pipelines
    return tf.data.Dataset.from_tensors((tf.ones([size, 1]), tf.ones([size, 1]))).repeat()


def main(model_dir, params):
    """Trains as this process's TF_CONFIG says."""
    config = graphtrain.RunConfig(
        model_dir,
        tf_random_seed=1,
        save_checkpoints_steps=1_000_000,
        save_summary_steps=0,
        log_step_count_steps=None,
        checkpoint_save_graph_def=False,
    )
    estimator = graphtrain.Estimator(_model_fn, config=config, params=params)
    if config.task_type == "ps":
        graphtrain.train_and_evaluate(
            estimator, graphtrain.TrainSpec(_input_fn, 1), graphtrain.EvalSpec(_input_fn)
        )
    else:
        steps = WARM_UP_STEPS + params["steps"]
        if config.num_ps_replicas:
            # Each worker makes a part of them, of its own.
            steps *= config.num_worker_replicas
        estimator.train(_input_fn, hooks=[Meter()], max_steps=steps)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
