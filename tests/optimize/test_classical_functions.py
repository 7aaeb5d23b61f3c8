"""On classical functions, accepted points meet their condition, and the trials before do not."""

import functools
import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import numpy_search
import pytest
import tensorflow as tf

from graphtrain import LineSearchOptimizer

tf1 = tf.compat.v1


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def himmelblau(x, y):
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


def beale(x, y):
    return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2


def matyas(x, y):
    return 0.26 * (x**2 + y**2) - 0.48 * x * y


def ill_conditioned(x, y):
    return x**2 + 1e4 * y**2


FUNCTIONS = [rosenbrock, himmelblau, beale, matyas, ill_conditioned]
# TensorFlow keeps an optimizer's settings in float32, in which these are exact.
BASES = {
    "sgd": (tf1.train.GradientDescentOptimizer, numpy_search.gradient_descent),
    "momentum": (lambda rate: tf1.train.MomentumOptimizer(rate, 0.5), numpy_search.momentum),
    "adam": (lambda rate: tf1.train.AdamOptimizer(rate, 0.5, 0.75, 2.0**-20), numpy_search.adam),
}
CONDITIONS = ("decrease", "armijo", "nonmonotone")
FIRST_SCALES = ("constant", "grow", "polyak")
INTERPOLATIONS = (None, "quadratic", "cubic")


class Minimizer:
    """A graph that minimises any of the functions, with one search."""

    def __init__(self, base, condition, first_scale, interpolation):
        with tf.Graph().as_default() as graph:
            self._which = tf1.placeholder(tf.int32, [])
            self._rate = tf1.placeholder(tf.float64, [])
            self._start = tf1.placeholder(tf.float64, [2])
            w = tf1.get_variable("w", initializer=np.zeros(2))
            loss = tf.stack([function(w[0], w[1]) for function in FUNCTIONS])[self._which]
            optimizer = LineSearchOptimizer(
                BASES[base][0](self._rate),
                condition=condition,
                first_scale=first_scale,
                interpolation=interpolation,
                shrink=numpy_search.SHRINK,
                min_scale=numpy_search.MIN_SCALE,
                self_test=False,
            )
            (gradient,) = tf.gradients(loss, w)
            self._reported = {"before": w.read_value(), "gradient": gradient}
            train_op = optimizer.minimize(loss)
            with tf.control_dependencies([train_op]):
                self._reported["after"] = w.read_value()
            for name in ("trials", "scale", "accepted"):
                self._reported[name] = getattr(optimizer, name)
            self._assign = w.assign(self._start)
            self._initializer = tf1.global_variables_initializer()
            self._variables = tf1.global_variables()
            self.session = tf1.Session(graph=graph)

    def begin(self, start):
        self.session.run(self._initializer)
        self.session.run(self._assign, {self._start: start})

    def step(self, which, rate):
        return self.session.run(self._reported, {self._which: which, self._rate: rate})

    def variables(self):
        return self.session.run({v.op.name: v for v in self._variables})


minimizer = functools.lru_cache(maxsize=None)(Minimizer)

# Every policy, each with one of the base optimizers in turn.
POLICIES = [
    (base, *policy)
    for policy, base in zip(
        itertools.product(CONDITIONS, FIRST_SCALES, INTERPOLATIONS),
        itertools.cycle(["sgd", "momentum", "adam", "momentum", "sgd"]),
        strict=False,
    )
]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: "-".join(map(str, policy)))
def test_steps_are_those_of_the_formulas(policy):
    base, *search = policy
    searched = minimizer(*policy)
    random = np.random.RandomState(0)
    for which in [*range(len(FUNCTIONS))] * 2:
        rate = 10 ** random.uniform(-4, 1)
        searched.begin(random.uniform(-2, 2, 2))
        reference = numpy_search.NumpySearch(FUNCTIONS[which], BASES[base][1], *search)
        for _ in range(6):
            told = searched.step(which, rate)
            step = reference.step(told["before"], told["gradient"], rate)
            assert (told["trials"], told["accepted"]) == (len(step.trials), step.accepted)
            np.testing.assert_allclose(told["after"], step.weights, rtol=1e-7, atol=1e-9)
            if step.accepted:
                np.testing.assert_allclose(told["scale"], step.trials[-1][0], rtol=1e-7)
            else:
                assert told["scale"] == 0


@pytest.mark.parametrize("policy", POLICIES[4::5], ids=lambda policy: "-".join(map(str, policy)))
@hypothesis.settings(deadline=None, max_examples=30)
@hypothesis.given(
    which=st.integers(0, len(FUNCTIONS) - 1),
    start=st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    log_rate=st.floats(-6, 12),
)
def test_a_step_falls_or_leaves_no_trace(policy, which, start, log_rate):
    searched = minimizer(*policy)
    searched.begin(start)
    before = searched.variables()
    told = searched.step(which, 10**log_rate)
    after = searched.variables()
    if told["accepted"]:
        # For a first step each of the conditions is to fall, but for rounding.
        fallen = FUNCTIONS[which](*after["w"]) - FUNCTIONS[which](*start)
        assert fallen <= 1e-15 * abs(FUNCTIONS[which](*start))
    else:
        for name, value in before.items():
            if not name.startswith("line_search"):
                assert after[name].tobytes() == value.tobytes(), name
