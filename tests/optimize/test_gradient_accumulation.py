import numpy as np
import pytest
import tensorflow as tf

from graphtrain import LineSearchOptimizer, UsageError
from graphtrain.optimize.gradient_accumulation import GradientAccumulationOptimizer

tf1 = tf.compat.v1

MAKERS = {
    "sgd": lambda: tf1.train.GradientDescentOptimizer(0.5),
    "momentum": lambda: tf1.train.MomentumOptimizer(0.5, 0.9),
    "adam": lambda: tf1.train.AdamOptimizer(0.5),
}
GRADIENTS = np.array([[1, 2], [3, -2], [0.5, 0.25], [1.5, 4], [2, 2], [8, 1]], np.float32)


def model(make, gradient):
    """Two weights, one of them in a name scope, whose gradients are fed."""
    w = tf1.get_variable("w", initializer=[1.0, 2.0])
    with tf1.variable_scope("more"):
        b = tf1.get_variable("b", initializer=[3.0, 4.0])
    loss = tf.reduce_sum(gradient * (w + 2 * b))
    optimizer = make()
    return [w, b], optimizer.minimize(loss, tf1.train.get_or_create_global_step())


def trained(make, gradients):
    """All variables after a step for each gradient, by name."""
    with tf.Graph().as_default():
        gradient = tf1.placeholder(tf.float32, [2])
        _, train_op = model(make, gradient)
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            for value in gradients:
                session.run(train_op, {gradient: value})
            return {v.op.name: session.run(v) for v in tf1.global_variables()}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_n_batches_make_the_step_of_their_mean(graph_mode, make):
    got = trained(lambda: GradientAccumulationOptimizer(make(), steps=3), GRADIENTS)
    expected = trained(make, GRADIENTS.reshape(2, 3, 2).mean(axis=1))
    assert (got.pop("global_step"), expected.pop("global_step")) == (6, 2)
    assert got.pop("gradient_accumulation/count") == 0
    for name in ("w", "more/b"):
        np.testing.assert_array_equal(got.pop(f"{name}/GradientAccumulation"), [0, 0])
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-6)


def test_weights_and_slots_stand_still_in_between(graph_mode):
    gradient = tf1.placeholder(tf.float32, [2])
    weights, train_op = model(
        lambda: GradientAccumulationOptimizer(MAKERS["adam"](), steps=3), gradient
    )
    step = tf1.train.get_global_step()
    rest = [v for v in tf1.global_variables() if "ccumulation" not in v.name and v is not step]
    assert len(rest) == len(weights) + 6
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        before = session.run(rest)
        for count in (1, 2):
            session.run(train_op, {gradient: GRADIENTS[count]})
            for old, new in zip(before, session.run(rest), strict=True):
                assert old.tobytes() == new.tobytes()
            assert session.run(step) == count


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_sparse_gradients(graph_mode, make):
    def run(make, batches):
        with tf.Graph().as_default():
            rows = tf1.placeholder(tf.int32, [None])
            table = tf1.get_variable("table", initializer=np.ones([5, 2], np.float32))
            picked = tf.nn.embedding_lookup(table, rows)
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(picked), axis=1))
            train_op = make().minimize(loss)
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                for batch in batches:
                    session.run(train_op, {rows: batch})
                return session.run(table)

    # Row 1 comes twice, row 4 in the first step only, row 2 never.
    batches = [[0, 1], [1, 4], [0, 3], [3, 1]]
    got = run(lambda: GradientAccumulationOptimizer(make(), steps=2), batches)
    expected = run(make, np.reshape(batches, [2, 4]))
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_resumed_run_equals_an_unbroken_one(graph_mode, tmp_path):
    def run(first, last, restored=None):
        with tf.Graph().as_default():
            gradient = tf1.placeholder(tf.float32, [2])
            _, train_op = model(
                lambda: GradientAccumulationOptimizer(MAKERS["adam"](), steps=3), gradient
            )
            saver = tf1.train.Saver()
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                if restored:
                    saver.restore(session, restored)
                for value in GRADIENTS[first:last]:
                    session.run(train_op, {gradient: value})
                path = saver.save(session, str(tmp_path / f"from{first}to{last}"))
                return path, session.run(tf1.global_variables())

    path, _ = run(0, 2)
    _, resumed = run(2, 6, path)
    _, unbroken = run(0, 6)
    for one, other in zip(resumed, unbroken, strict=True):
        assert one.tobytes() == other.tobytes()


def test_names_inside_a_name_scope(graph_mode):
    def names(make):
        with tf.Graph().as_default():
            with tf1.name_scope("training"):
                model(make, tf.ones([2]))
            return {v.op.name for v in tf1.global_variables()}

    wrapped = names(lambda: GradientAccumulationOptimizer(MAKERS["adam"](), steps=2))
    assert names(MAKERS["adam"]) == {name for name in wrapped if "ccumulation" not in name}


def test_one_train_op_is_collected(graph):
    _, train_op = model(lambda: GradientAccumulationOptimizer(MAKERS["sgd"](), 2), tf.ones([2]))
    assert graph.get_collection(tf1.GraphKeys.TRAIN_OP) == [train_op]


def test_slots_and_variables_of_both(graph):
    optimizer = GradientAccumulationOptimizer(MAKERS["momentum"](), steps=2)
    (w, _), _ = model(lambda: optimizer, tf.ones([2]))
    assert optimizer.get_slot_names() == ["momentum", "sum"]
    assert optimizer.get_slot(w, "momentum").op.name == "w/Momentum"
    assert optimizer.get_slot(w, "sum").op.name == "w/GradientAccumulation"
    assert len(optimizer.variables()) == 4


def test_an_unused_variable_has_no_sum(graph):
    unused = tf1.get_variable("unused", initializer=1.0)
    model(lambda: GradientAccumulationOptimizer(MAKERS["sgd"](), steps=2), tf.ones([2]))
    assert unused in tf1.trainable_variables()
    assert not [v for v in tf1.global_variables() if v.name.startswith("unused/")]


@pytest.mark.parametrize("steps", [0, -1, 1.5, None])
def test_bad_steps(steps):
    with pytest.raises(UsageError, match=f"steps={steps}"):
        GradientAccumulationOptimizer(MAKERS["sgd"](), steps)


def test_what_cannot_be_wrapped(graph):
    with pytest.raises(UsageError, match="optimizer='adam' cannot be wrapped"):
        GradientAccumulationOptimizer("adam", 2)
    with pytest.raises(UsageError, match="judges a step by the loss of one batch"):
        GradientAccumulationOptimizer(LineSearchOptimizer(MAKERS["sgd"]()), 2)
    with pytest.raises(UsageError, match="no gradient for any of"):
        w = tf1.get_variable("w", initializer=1.0)
        GradientAccumulationOptimizer(MAKERS["sgd"](), 2).apply_gradients([(None, w)])


def test_a_search_over_it_is_refused(graph):
    with pytest.raises(UsageError, match="no weight, so that no loss falls"):
        LineSearchOptimizer(GradientAccumulationOptimizer(MAKERS["sgd"](), 2))
