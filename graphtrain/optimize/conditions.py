"""When a trial of the line search is good enough."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Decrease:
    """Accepts a trial whose loss is below the loss before the step: f < f0."""

    def accepts(self, loss, loss_before):
        """Returns whether the trial is good enough, a bool scalar tensor.

        Args:
          loss: float scalar tensor, the loss at the trial.
          loss_before: float scalar tensor, the loss of the same batch before the step.
        """
        return loss < loss_before


CONDITIONS = {"decrease": Decrease()}
