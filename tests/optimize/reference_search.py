"""The line search again, by a plain optimizer and many session.run calls, as a reference."""

import contextlib

import numpy as np
import tensorflow as tf

from graphtrain import LineSearchOptimizer

tf1 = tf.compat.v1


@contextlib.contextmanager
def own_session(build, make_optimizer):
    """Builds a graph; yields a session, the optimizer, and what `build(optimizer)` returned."""
    with tf.Graph().as_default() as graph:
        optimizer = make_optimizer()
        built = build(optimizer)
        with tf1.Session(graph=graph) as session:
            session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
            yield session, optimizer, built


def state(session):
    """The values of all global variables, by name."""
    return session.run({v.op.name: v for v in tf1.global_variables()})


class ReferenceSearch:
    """Steps a plain optimizer in its session, and searches along its step.

    Args:
      session: the session of the twin graph.
      loss: the loss there.
      train_op: the plain optimizer's train op there.
      shrink: the factor from one trial to the next.
      min_scale: the least scale.
      beside: how the names end of variables that others than the optimizer write.
      weights: the names of the weights; all trainable variables if None.
    """

    def __init__(
        self, session, loss, train_op, *, shrink=0.3, min_scale=1e-5, beside=(), weights=None
    ):
        self._session, self._loss, self._train_op = session, loss, train_op
        self._shrink, self._min_scale = shrink, min_scale
        trained = [v.op.name for v in tf1.trainable_variables() if v.dtype.is_floating]
        self._weights = trained if weights is None else weights
        beside = ("global_step", *beside)
        self._kept = [v for v in tf1.global_variables() if not v.op.name.endswith(beside)]
        self._values = {v.op.name: tf1.placeholder(v.dtype.base_dtype) for v in self._kept}
        self._assign = {v.op.name: tf1.assign(v, self._values[v.op.name]) for v in self._kept}

    def step(self, feed=None):
        """Takes one searched step; returns the number of trials, and whether one was accepted."""
        before = state(self._session)
        dtype = np.float64 if self._loss.dtype == tf.float64 else np.float32
        loss_before = dtype(self._session.run(self._loss, feed))
        bound = loss_before + 2 * np.finfo(dtype).eps * abs(loss_before)
        self._session.run(self._train_op, feed)
        whole = state(self._session)
        trials, scale = 0, 1.0
        while trials == 0 or scale >= self._min_scale:
            if trials:
                self.write(
                    {
                        name: before[name]
                        + before[name].dtype.type(scale) * (whole[name] - before[name])
                        for name in self._weights
                    }
                )
            trials += 1
            loss = dtype(self._session.run(self._loss, feed))
            if np.isfinite(loss) and loss < bound:
                return trials, True
            scale = np.float32(scale) * np.float32(self._shrink)
        self.write({v.op.name: before[v.op.name] for v in self._kept})
        return trials, False

    def write(self, values):
        """Writes values, by the names of variables; what is not kept is left alone."""
        values = {name: value for name, value in values.items() if name in self._assign}
        ops = [self._assign[name] for name in values]
        self._session.run(ops, {self._values[name]: value for name, value in values.items()})


def assert_searches_alike(build, make_optimizer, *, feeds, beside=(), rtol=None, **search):
    """Asserts that the search in the graph takes the steps of the reference.

    Args:
      build: a function of an optimizer that builds a graph, and returns its loss and train op.
      make_optimizer: a function that returns the plain optimizer.
      feeds: a dict from tensor names to values for each step.
      beside: how the names end of variables that others than the optimizer write.
      rtol: how near all variables must be after each step; bit for bit if None.
      **search: shrink and min_scale.

    Returns:
      The trials of each step, and whether one was accepted.
    """
    feeds = list(feeds)
    with own_session(build, lambda: LineSearchOptimizer(make_optimizer(), **search)) as own:
        session, optimizer, (_, train_op) = own
        fetched = [train_op, optimizer.trials, optimizer.accepted]
        searched = [(*session.run(fetched, feed)[1:], state(session)) for feed in feeds]
    with own_session(build, make_optimizer) as (session, _, (loss, train_op)):
        reference = ReferenceSearch(session, loss, train_op, beside=beside, **search)
        expected = [(*reference.step(feed), state(session)) for feed in feeds]
    assert [step[:2] for step in searched] == [step[:2] for step in expected]
    for (*_, found), (*_, wanted) in zip(searched, expected, strict=True):
        assert list(found) == list(wanted)
        for name, value in wanted.items():
            if rtol is None:
                assert found[name].tobytes() == value.tobytes(), name
            else:
                np.testing.assert_allclose(found[name], value, rtol=rtol, atol=rtol, err_msg=name)
    return [trials for trials, *_ in expected], [accepted for _, accepted, _ in expected]
