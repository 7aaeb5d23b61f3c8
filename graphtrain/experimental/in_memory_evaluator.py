"""Evaluation every so many steps of a training, whether or not a checkpoint is saved then."""

import os
import tempfile

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.estimator.estimator import Estimator
from graphtrain.hooks._periodic import PeriodicHook

tf1 = tf.compat.v1


class InMemoryEvaluatorHook(PeriodicHook):
    """Evaluates the variables as they are in a training session.

    At the start, at each multiple of `every_n_iter` steps and at the end. The model_dir gets the
    event files of the evaluations, but no checkpoint: the variables go to the evaluation through
    a temporary file.

    Args:
      estimator: the `Estimator` that is trained.
      input_fn: callable that builds the evaluation input, as for `Estimator.evaluate`.
      steps: int >= 1, how many batches to evaluate; None takes all.
      hooks: iterable of session hooks of the evaluation.
      name: str; results go to `eval_NAME` instead of `eval`.
      every_n_iter: int >= 1, steps from one evaluation to the next.

    Raises:
      TypeError: the estimator is no `Estimator`.
      UsageError: `every_n_iter` is not >= 1, or the training uses parameter servers.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     step = tf1.train.get_global_step()
      ...     loss = 1.0 / tf.cast(step + 1, tf.float32)
      ...     return graphtrain.EstimatorSpec(mode, features, loss, tf1.assign_add(step, 1))
      >>> def input_fn():
      ...     return tf.data.Dataset.from_tensors(1.0)
      >>> estimator = graphtrain.Estimator(model_fn, "evaluated_run")
      >>> hook = InMemoryEvaluatorHook(estimator, input_fn, every_n_iter=2)
      >>> _ = estimator.train(lambda: tf.constant(1.0), hooks=[hook], max_steps=3)
      >>> list(graphtrain.evaluation_events.read_metrics(estimator.eval_dir()))
      [0, 2, 3]
    """

    def __init__(self, estimator, input_fn, steps=None, hooks=None, name=None, every_n_iter=100):
        if not isinstance(estimator, Estimator):
            raise TypeError(f"estimator must be a graphtrain.Estimator, got {estimator!r}.")
        if estimator.config.num_ps_replicas > 0:
            raise UsageError(
                "InMemoryEvaluatorHook cannot be used with parameter servers: evaluate the "
                "checkpoints, by train_and_evaluate."
            )
        super().__init__({}, every_steps=checks.whole("every_n_iter", every_n_iter))
        self._estimator = estimator
        self._evaluation = {"input_fn": input_fn, "steps": steps, "hooks": hooks, "name": name}

    def begin(self):
        """Makes the saver of the variables."""
        super().begin()
        self._saver = tf1.train.Saver(tf1.global_variables(), name="in_memory_evaluator")

    def after_create_session(self, session, coord):
        """Evaluates the variables that the session starts with."""
        super().after_create_session(session, coord)
        self._session = session
        self._evaluate(self._step)

    def report(self, step, values):
        """Evaluates, at a step that is due."""
        del values
        self._evaluate(step)

    def end(self, session):
        """Evaluates the last step, unless that has just been done."""
        step = int(session.run(self._global_step))
        if step != self._evaluated_step:
            self._evaluate(step)

    def _evaluate(self, step):
        with tempfile.TemporaryDirectory() as directory:
            path = self._saver.save(
                self._session,
                os.path.join(directory, "model.ckpt"),
                write_meta_graph=False,
                write_state=False,
            )
            self._estimator.evaluate(checkpoint_path=path, **self._evaluation)
        self._evaluated_step = step
