"""Estimator: a model_fn with a directory, to train, evaluate, predict and export."""

import copy
import dataclasses
import functools
import os

import tensorflow as tf

from graphtrain import deprecation
from graphtrain.errors import UsageError
from graphtrain.estimator import evaluation, exporting, model, prediction, training, warm_start
from graphtrain.estimator.predictor import Predictor
from graphtrain.estimator.spec import ModeKeys
from graphtrain.session import checkpoints
from graphtrain.session.fitting_saver import variables_in

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
      warm_start_from: path of a checkpoint, of a directory with checkpoints or of a SavedModel,
        from which a training that begins anew takes the trainable variables; or
        `WarmStartSettings`. Where `model_dir` has a checkpoint, that one is resumed instead.

    Raises:
      UsageError: the model_fn lacks an argument or has an unknown one, there are two
        model_dirs, or `warm_start_from` is something else.

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

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        model.check_model_fn(model_fn, params)
        self._warm_start_settings = warm_start.settings_of(warm_start_from)
        self._model = model.Model(
            model_fn=model_fn,
            config=model.config_with_model_dir(config, model_dir),
            params=copy.deepcopy({} if params is None else params),
            warm_start=warm_start.WarmStart(self._warm_start_settings),
        )
        self._last_train_result = None
        self._session = None

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
            changed = dataclasses.replace(self._model, config=config)
            return changed.call_model_fn(features, labels, mode)

        return model_fn

    @property
    def last_train_result(self):
        """How the last call of `train` ended; None before the first, and in a parameter server.

        A `TrainResult` with `global_step`, `loss` (None if no step was made), `reason`:
        "max_steps", "end_of_data" or "stop_requested", and `stop_reason`: what `request_stop`
        was told.
        """
        return self._last_train_result

    @property
    def warm_start_settings(self):
        """The `WarmStartSettings`, or None."""
        return self._warm_start_settings

    @property
    def warm_start_report(self):
        """What the warm start did: a `WarmStartReport`; None if there was none."""
        return self._model.warm_start.report

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains the model, from the newest checkpoint on.

        A model that has reached `max_steps` is left as it is: no file changes.

        Args:
          input_fn: callable that returns a Dataset of (features, labels), or such tensors, or
            features alone. It is given those of `mode`, `params`, `config` and `input_context`
            that it has arguments for; the last is a `tf.distribute.InputContext`, which says what
            part of the data this process is to read if there are several.
          hooks: iterable of session hooks.
          steps: int >= 1, how many steps to make; twice `train(steps=10)` makes 20.
          max_steps: int >= 1, the global step to train up to; twice `train(max_steps=10)` makes
            10.
          saving_listeners: iterable of `tf.compat.v1.train.CheckpointSaverListener`.

        Returns:
          The estimator; `last_train_result` tells how the training ended.

        Raises:
          UsageError: steps and max_steps are both given, a value makes no sense, a run of
            the train_op does not raise the global step by exactly 1, or other processes of the
            cluster do not answer.
          graphtrain.session.signals.Interrupted: a signal came while it waited for others, before
            there was anything to save.
        """
        try:
            self._last_train_result = training.train(
                self._model,
                input_fn,
                hooks=hooks,
                steps=steps,
                max_steps=max_steps,
                saving_listeners=saving_listeners,
                on_session=functools.partial(setattr, self, "_session"),
            )
        finally:
            self._session = None
        return self

    def request_stop(self, reason=None):
        """Ends the running `train` after its current step: for hooks and other threads.

        Args:
          reason: str, why; it will be in `last_train_result.stop_reason`.

        Raises:
          UsageError: `train` is not running.
        """
        self._running_session("request_stop").request_stop(reason)

    def save_now(self):
        """Saves a checkpoint of the running `train`: for hooks, in their `after_run`.

        Returns:
          Str, the checkpoint's path without extension.

        Raises:
          UsageError: `train` is not running.
        """
        return self._running_session("save_now").save_now()

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

    def predictor(self, serving_input_receiver_fn, checkpoint_path=None):
        """Returns a function from inputs to predictions, its graph built and restored once.

        Args:
          serving_input_receiver_fn: as for `export_saved_model`.
          checkpoint_path: str, the checkpoint to use; by default the newest.

        Returns:
          A `Predictor`: call it with a dict of arrays as often as you like, then `close()` it,
          or use it in a `with` block.

        Raises:
          UsageError: there is no checkpoint, or it does not fit the model.
        """
        return Predictor(self._model, serving_input_receiver_fn, checkpoint_path=checkpoint_path)

    def export_saved_model(
        self,
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
        experimental_mode=ModeKeys.PREDICT,
    ):
        """Exports the model as a SavedModel of one mode.

        Args:
          export_dir_base: str or path; the SavedModel goes into a new directory in it, named by
            the time in seconds.
          serving_input_receiver_fn: callable that returns a `ServingInputReceiver` or a
            `TensorServingInputReceiver`; see `graphtrain.export`. In the modes TRAIN and EVAL
            it returns a `SupervisedInputReceiver`.
          assets_extra: dict of path below `assets.extra` to a file to copy there.
          as_text: bool, whether the graph is written as text.
          checkpoint_path: str, the checkpoint to export; by default the newest.
          experimental_mode: the `ModeKeys` value to export.

        Returns:
          The new directory, as bytes.

        Raises:
          UsageError: there is no checkpoint, it does not fit, or no signature can be served.
        """
        return self.experimental_export_all_saved_models(
            export_dir_base,
            {experimental_mode: serving_input_receiver_fn},
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base,
        input_receiver_fn_map,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
    ):
        """Exports a SavedModel with a graph for each of several modes.

        Their tags are "train", "eval" and "serve"; they share one set of variables.

        Args:
          export_dir_base: as for `export_saved_model`.
          input_receiver_fn_map: dict of `ModeKeys` value to the callable that returns the mode's
            input receiver.
          assets_extra: as for `export_saved_model`.
          as_text: as for `export_saved_model`.
          checkpoint_path: as for `export_saved_model`.

        Returns:
          The new directory, as bytes.

        Raises:
          UsageError: as for `export_saved_model`; or a mode is unknown, or there is none.
        """
        export_dir = exporting.export_saved_model(
            self._model,
            export_dir_base,
            input_receiver_fn_map,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
        )
        return os.fsencode(export_dir)

    @deprecation.renamed_to("export_saved_model")
    def export_savedmodel(
        self,
        export_dir_base,
        serving_input_receiver_fn=None,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
        strip_default_attrs=True,
    ):
        """The old spelling of `export_saved_model`; default attributes are stripped always."""
        del strip_default_attrs
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )

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
        return sorted(variables_in(self._trained_checkpoint()))

    def get_variable_value(self, name):
        """Returns the value of a variable in the newest checkpoint.

        Args:
          name: str, the variable's name.

        Returns:
          Numpy array.

        Raises:
          UsageError: there is no checkpoint, or no such variable in it.
        """
        path = self._trained_checkpoint()
        names = self.get_variable_names()
        if name not in names:
            raise UsageError(
                f"There is no variable {name!r} in {path}; there are {', '.join(names)}."
            )
        return tf.train.load_variable(path, name)

    def _running_session(self, method):
        if self._session is None:
            raise UsageError(f"{method}() is for the time that train() runs, which it does not.")
        return self._session

    def _trained_checkpoint(self):
        path = self.latest_checkpoint()
        if path is None:
            raise UsageError(f"There is no checkpoint in {self.model_dir}: train first.")
        return path
