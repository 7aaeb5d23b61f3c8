"""A smaller learning rate when evaluations get no better."""

import math

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.hooks.quiet import NEVER, QuietHook
from graphtrain.optimize import rate_scale, search_state

tf1 = tf.compat.v1

_BEST, _WAITED = "best", "waited"


class PlateauHook(QuietHook):
    """Multiplies the learning rate by a factor when a metric has not improved for a while.

    Give the same object to the `TrainSpec` as a hook and to the `EvalSpec` as an exporter: it is
    told of each evaluation. The rate must be multiplied by `graphtrain.learning_rate_scale()`, as
    it is in our models. What it remembers is in checkpoints, so that a resumed run goes on.

    Args:
      metric: str, the metric's name.
      patience: int >= 1, how many evaluations in a row without improvement are one too many.
      factor: in (0, 1).
      lower_is_better: bool.
      min_change: number >= 0; less is no improvement.
      min_scale: number > 0, the least factor of the learning rate.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> hook = PlateauHook("accuracy", patience=3, lower_is_better=False)
      >>> hook.name
      'plateau_of_accuracy'
    """

    def __init__(
        self,
        metric="loss",
        *,
        patience=2,
        factor=0.5,
        lower_is_better=True,
        min_change=0.0,
        min_scale=1e-3,
    ):
        self._metric = metric
        self._patience = checks.whole("patience", patience)
        self._factor = checks.real("factor", factor, above=0, below=1)
        self._sign = 1 if lower_is_better else -1
        self._min_change = checks.real("min_change", min_change, at_least=0)
        self._min_scale = checks.real("min_scale", min_scale, above=0)
        self._values = []

    @property
    def name(self):
        """Str, the exporter's name."""
        return f"plateau_of_{self._metric}"

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Takes note of an evaluation; exports nothing."""
        del estimator, export_path, checkpoint_path, is_the_final_export
        if self._metric not in eval_result:
            raise UsageError(
                f"metric={self._metric!r} is none of the evaluation's, which are "
                f"{', '.join(sorted(eval_result))}"
            )
        self._values.append(self._sign * float(eval_result[self._metric]))

    def begin(self):
        """Makes the variables that remember, and the ops that write them."""
        if not rate_scale.SCALE.is_used(tf1.get_default_graph()):
            raise UsageError(
                "PlateauHook changes graphtrain.learning_rate_scale(), by which the learning rate "
                "is to be multiplied; this graph's is not."
            )
        self._scale = rate_scale.learning_rate_scale()
        self._assign_scale, self._new_scale = rate_scale.SCALE.assignment()
        self._state = search_state.SearchState(
            {_BEST: math.inf, _WAITED: 0.0}, dtype=tf.float32, scope="plateau"
        )
        self._new_state = {
            name: tf1.placeholder(tf.float32, [], f"plateau_{name}") for name in (_BEST, _WAITED)
        }
        self._assign_state = self._state.write(self._new_state)

    def steps_until_due(self):
        """Returns 1 after an evaluation."""
        return 1 if self._values else NEVER

    def pass_over(self, steps):
        """Does nothing: steps are not counted."""

    def before_run(self, run_context):
        """Takes the evaluations since the last run into account."""
        for value in self._values:
            self._take(run_context.session, value)
        self._values = []

    def _take(self, session, value):
        remembered = session.run(self._state.variables)
        best, waited = float(remembered[_BEST]), int(remembered[_WAITED])
        if value < best - self._min_change:
            best, waited = value, 0
        else:
            waited += 1
        if waited == self._patience:
            waited = 0
            scale = max(float(session.run(self._scale)) * self._factor, self._min_scale)
            session.run(self._assign_scale, {self._new_scale: scale})
            tf1.logging.warning(
                "%s has not improved in %d evaluations: the learning rate is now scaled by %g",
                self._metric,
                self._patience,
                scale,
            )
        feeds = {self._new_state[_BEST]: best, self._new_state[_WAITED]: waited}
        session.run(self._assign_state, feeds)
