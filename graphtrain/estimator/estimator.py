"""Estimator: a model_fn with a directory, to train, evaluate, predict and export."""

import copy
import os
import tempfile

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator import evaluation, exporting, model, prediction, training
from graphtrain.estimator.run_config import RunConfig
from graphtrain.estimator.spec import ModeKeys
from graphtrain.session import checkpoints

tf1 = tf.compat.v1


class Estimator:
    """Trains, evaluates, predicts and exports the model that a model_fn builds.

    Each call builds a fresh graph, restores the newest checkpoint of `model_dir` and runs.

    Args:
      model_fn: callable that returns an `EstimatorSpec`. It is given `features` and those of
        `labels`, `mode`, `params` and `config` that it has arguments for.
      model_dir: str or path of the directory of checkpoints and event files; it may also be in
        `config`, but not another one. If it is in neither, a temporary one is made.
      config: `RunConfig`.
      params: dict (or any object) of settings that the model_fn and the input_fns are given; a
        copy is taken now.

    Raises:
      UsageError: the model_fn lacks an argument or has an unknown one, or there are two
        model_dirs.

    Example:
      >>> def model_fn(features, labels, mode, params):
      ...     weight = tf1.get_variable("w", initializer=0.0)
      ...     loss = tf.reduce_mean(tf.square(labels - weight * features))
      ...     optimizer = tf1.train.GradientDescentOptimizer(params["learning_rate"])
      ...     step = tf1.train.get_global_step()
      ...     train_op = optimizer.minimize(loss, global_step=step)
      ...     return graphtrain.EstimatorSpec(mode, weight * features, loss, train_op)
      >>> def input_fn():
      ...     return tf.data.Dataset.from_tensors(([1.0], [3.0])).repeat(20)
      >>> estimator = graphtrain.Estimator(model_fn, "run", params={"learning_rate": 0.25})
      >>> estimator.train(input_fn).last_train_result.reason
      'end_of_data'
      >>> round(float(estimator.get_variable_value("w")), 4)
      3.0
    """

    def __init__(self, model_fn, model_dir=None, config=None, params=None):
        model.check_model_fn(model_fn, params)
        self._model = model.Model(
            model_fn=model_fn,
            config=_config_with_model_dir(config, model_dir),
            params=copy.deepcopy({} if params is None else params),
        )
        self._last_train_result = None

    @property
    def model_dir(self):
        """Str, the directory of checkpoints and event files."""
        return self._model.model_dir

    @property
    def config(self):
        """The `RunConfig`, its `model_dir` set."""
        return self._model.config

    @property
    def params(self):
        """A copy of the params."""
        return copy.deepcopy(self._model.params)

    @property
    def model_fn(self):
        """The model_fn as a function `(features, labels, mode, config)`."""

        def model_fn(features, labels, mode, config):
            return model.Model(self._model.model_fn, config, self._model.params).call_model_fn(
                features, labels, mode
            )

        return model_fn

    @property
    def last_train_result(self):
        """How the last call of `train` ended; None before the first.

        A `TrainResult` with `global_step`, `loss` (None if no step was made) and `reason`:
        "max_steps", "end_of_data" or "stop_requested".
        """
        return self._last_train_result

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains the model, from the newest checkpoint on.

        A model that has reached `max_steps` is left as it is: no file changes.

        Args:
          input_fn: callable that returns a Dataset of (features, labels), or such tensors, or
            features alone. It is given those of `mode`, `params` and `config` that it has
            arguments for.
          hooks: iterable of session hooks.
          steps: int >= 1, how many steps to make; twice `train(steps=10)` makes 20.
          max_steps: int >= 1, the global step to train up to; twice `train(max_steps=10)` makes
            10.
          saving_listeners: iterable of `tf.compat.v1.train.CheckpointSaverListener`.

        Returns:
          The estimator; `last_train_result` tells how the training ended.

        Raises:
          UsageError: steps and max_steps are both given, a value makes no sense, or a run of
            the train_op does not raise the global step by exactly 1.
        """
        self._last_train_result = training.train(
            self._model,
            input_fn,
            hooks=hooks,
            steps=steps,
            max_steps=max_steps,
            saving_listeners=saving_listeners,
        )
        return self

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """Evaluates the model, and writes the metrics into `eval_dir(name)`.

        Args:
          input_fn: as for `train`.
          steps: int >= 1, how many batches to evaluate; None takes all.
          hooks: iterable of session hooks.
          checkpoint_path: str, the checkpoint to evaluate; by default the newest. If there is
            none, the initial values are evaluated.
          name: str, to keep evaluations of several data sets apart.

        Returns:
          Dict of the model_fn's metrics, of `loss` (its mean over the batches) and
          `global_step`.

        Raises:
          UsageError: the input is empty, or a metric has a reserved name.
        """
        return evaluation.evaluate(
            self._model,
            input_fn,
            self.eval_dir(name),
            steps=steps,
            hooks=hooks,
            checkpoint_path=checkpoint_path,
        )

    def predict(
        self,
        input_fn,
        predict_keys=None,
        hooks=None,
        checkpoint_path=None,
        yield_single_examples=True,
    ):
        """Yields the model's predictions.

        Args:
          input_fn: as for `train`; labels are ignored.
          predict_keys: list of str, which predictions to yield, where they are a dict.
          hooks: iterable of session hooks.
          checkpoint_path: str, the checkpoint to use; by default the newest. If there is none,
            the initial values are used.
          yield_single_examples: bool; False yields whole batches.

        Yields:
          Numpy values: of one example each, or of a batch.

        Raises:
          UsageError: `predict_keys` name no prediction, or the predictions of a batch differ in
            length.
        """
        return prediction.predict(
            self._model,
            input_fn,
            predict_keys=predict_keys,
            hooks=hooks,
            checkpoint_path=checkpoint_path,
            single_examples=yield_single_examples,
        )

    def export_saved_model(
        self,
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
        experimental_mode=ModeKeys.PREDICT,
    ):
        """Exports the model in mode PREDICT as a SavedModel.

        Args:
          export_dir_base: str or path; the SavedModel goes into a new directory in it, named by
            the time in seconds.
          serving_input_receiver_fn: callable that returns a `ServingInputReceiver` or a
            `TensorServingInputReceiver`; see `graphtrain.export`.
          assets_extra: dict of path below `assets.extra` to a file to copy there.
          as_text: bool, whether the graph is written as text.
          checkpoint_path: str, the checkpoint to export; by default the newest.
          experimental_mode: the mode to export, `ModeKeys.PREDICT`.

        Returns:
          The new directory, as bytes.

        Raises:
          UsageError: there is no checkpoint, it lacks a variable, or no signature can be served.
        """
        if experimental_mode != ModeKeys.PREDICT:
            raise UsageError(
                f"experimental_mode={experimental_mode!r} cannot be used: only "
                f"{ModeKeys.PREDICT!r} is exported."
            )
        export_dir = exporting.export_saved_model(
            self._model,
            export_dir_base,
            serving_input_receiver_fn,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )
        return os.fsencode(export_dir)

    def eval_dir(self, name=None):
        """Returns the directory of an evaluation's event files.

        Args:
          name: str or None, the evaluation's name.

        Returns:
          str.
        """
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def latest_checkpoint(self):
        """Returns the path, without extension, of the newest checkpoint, or None."""
        return checkpoints.newest(self.model_dir)

    def get_variable_names(self):
        """Returns the names of the variables in the newest checkpoint.

        Returns:
          List of str.

        Raises:
          UsageError: there is no checkpoint.
        """
        return [name for name, _ in tf.train.list_variables(self._trained_checkpoint())]

    def get_variable_value(self, name):
        """Returns the value of a variable in the newest checkpoint.

        Args:
          name: str, the variable's name.

        Returns:
          Numpy array.

        Raises:
          UsageError: there is no checkpoint, or no such variable in it.
        """
        reader = tf.train.load_checkpoint(self._trained_checkpoint())
        if not reader.has_tensor(name):
            raise UsageError(
                f"There is no variable {name!r} in {self._trained_checkpoint()}; there are "
                f"{', '.join(sorted(reader.get_variable_to_shape_map()))}."
            )
        return reader.get_tensor(name)

    def _trained_checkpoint(self):
        path = self.latest_checkpoint()
        if path is None:
            raise UsageError(f"There is no checkpoint in {self.model_dir}: train first.")
        return path


def _config_with_model_dir(config, model_dir):
    config = RunConfig() if config is None else config
    if not isinstance(config, RunConfig):
        raise UsageError(f"config must be a RunConfig, got {config!r}.")
    if model_dir is None:
        if config.model_dir is not None:
            return config
        model_dir = tempfile.mkdtemp()
        tf1.logging.warning("no model_dir was given, using the temporary %s", model_dir)
        return config.replace(model_dir=model_dir)
    model_dir = os.fspath(model_dir)
    if config.model_dir not in (None, model_dir):
        raise UsageError(
            f"model_dir is {model_dir!r} as an argument, but {config.model_dir!r} in the "
            "RunConfig: give it once."
        )
    return config.replace(model_dir=model_dir)
