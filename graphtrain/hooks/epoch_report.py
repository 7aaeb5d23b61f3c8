"""A line at the end of each epoch."""

from graphtrain.hooks._periodic import PeriodicHook


class EpochReportHook(PeriodicHook):
    """Prints "epoch E/N, step S, loss L" at the end of each epoch.

    An epoch is `steps_per_epoch` global steps, counted from step 0 of the run and not from
    a resume. The loss is fetched at those steps only.

    >>> _ = tf1.train.get_or_create_global_step()
    >>> loss = tf.constant(0.25)
    >>> hook = graphtrain.hooks.EpochReportHook(loss, steps_per_epoch=2, epochs=3)
    >>> train_op = tf1.assign_add(tf1.train.get_global_step(), 1)
    >>> with tf1.train.MonitoredTrainingSession(hooks=[hook]) as session:
    ...     for _ in range(5):
    ...         _ = session.run(train_op)
    epoch 1/3, step 2, loss 0.25
    epoch 2/3, step 4, loss 0.25
    """

    def __init__(self, loss, *, steps_per_epoch, epochs=None, write=print):
        """Makes the hook.

        Args:
          loss: scalar tensor, its name in the graph, or the tag of its summary.
          steps_per_epoch: int >= 1, steps in one pass over the training data.
          epochs: int or None, how many epochs the run has, if known.
          write: function of one line of text; beside a progress bar, the `write` of its
            `ProgressHook`.

        Raises:
          UsageError: if `steps_per_epoch` is not a whole number >= 1.
        """
        super().__init__({"loss": loss}, every_steps=steps_per_epoch)
        self._epochs = "" if epochs is None else f"/{epochs}"
        self._write = write

    def report(self, step, values):
        """Prints the line."""
        epoch = step // self._every_steps
        self._write(f"epoch {epoch}{self._epochs}, step {step}, loss {values['loss']:.4g}")
