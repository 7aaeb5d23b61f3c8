"""A predictor: the model's graph and session, kept open to be asked again and again."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator import spec as specs
from graphtrain.session import checkpoints, restore

tf1 = tf.compat.v1


class Predictor:
    """Answers requests by a model that was restored once; `Estimator.predictor` makes it.

    It may be called from several threads. Hooks do not run. Used in a `with` block it is closed
    at the end.

    Args:
      model: `graphtrain.estimator.model.Model`.
      serving_input_receiver_fn: callable that returns a `ServingInputReceiver` or a
        `TensorServingInputReceiver`.
      checkpoint_path: str, the checkpoint to use; by default the newest.

    Raises:
      UsageError: there is no checkpoint, or it does not fit the model.
    """

    def __init__(self, model, serving_input_receiver_fn, *, checkpoint_path=None):
        if not callable(serving_input_receiver_fn):
            raise UsageError(
                f"serving_input_receiver_fn must be callable, got {serving_input_receiver_fn!r}."
            )
        checkpoint_path = checkpoint_path or checkpoints.newest(model.model_dir)
        if checkpoint_path is None:
            raise UsageError(f"There is no checkpoint in {model.model_dir}: train first.")
        with tf.Graph().as_default():
            model.start_graph()
            receiver = serving_input_receiver_fn()
            spec = model.call_model_fn(receiver.features, None, specs.ModeKeys.PREDICT)
            self._fed = receiver.receiver_tensors
            self._predictions = spec.predictions
            self._session = restore.RestoringSessionCreator(
                spec.scaffold, config=model.session_config, checkpoint_path=checkpoint_path
            ).create_session()

    @property
    def graph(self):
        """The `tf.Graph`."""
        return self._session.graph

    @property
    def session(self):
        """The `tf.compat.v1.Session`."""
        return self._session

    def __call__(self, inputs):
        """Returns the model's predictions.

        Args:
          inputs: dict of the names of the receiver tensors to arrays; or, where there is only
            one, its array.

        Returns:
          Numpy array or dict of them, as the model_fn's predictions are.

        Raises:
          UsageError: names are missing or unknown.
        """
        if not isinstance(inputs, dict) and len(self._fed) == 1:
            inputs = dict.fromkeys(self._fed, inputs)
        if not isinstance(inputs, dict) or set(inputs) != set(self._fed):
            given = sorted(inputs) if isinstance(inputs, dict) else type(inputs).__name__
            raise UsageError(f"A predictor must be given {sorted(self._fed)}, got {given}.")
        feeds = {self._fed[name]: value for name, value in inputs.items()}
        return self._session.run(self._predictions, feeds)

    def close(self):
        """Closes the session."""
        self._session.close()

    def __enter__(self):
        """Returns the predictor itself."""
        return self

    def __exit__(self, *exception):
        """Closes the session."""
        self.close()
