"""One searched step: what is tried, kept, put back, counted and refused."""

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import LineSearchOptimizer, UsageError

tf1 = tf.compat.v1


def quadratic(learning_rate=100.0, make=tf1.train.GradientDescentOptimizer, **search):
    """The sum over 4 of (w - 3)^2 from w = 1: variable, optimizer, train op."""
    w = tf1.get_variable("w", initializer=np.ones(4, np.float32))
    loss = tf.reduce_sum((w - 3.0) ** 2)
    optimizer = LineSearchOptimizer(make(learning_rate), **search)
    train_op = optimizer.minimize(loss, global_step=tf1.train.create_global_step())
    return w, optimizer, train_op


def report(optimizer):
    return {
        name: getattr(optimizer, name)
        for name in ("loss_before", "loss_after", "scale", "learning_rate", "trials", "accepted")
    }


def initialized_session():
    session = tf1.Session()
    session.run(tf1.global_variables_initializer())
    return session


MAKERS = {
    "sgd": tf1.train.GradientDescentOptimizer,
    "momentum": lambda rate: tf1.train.MomentumOptimizer(rate, 0.9),
    "adam": tf1.train.AdamOptimizer,
}


def test_tries_smaller_rates_until_the_loss_falls(graph_mode):
    w, optimizer, train_op = quadratic(shrink=0.5)
    with initialized_session() as session:
        told = session.run([train_op, report(optimizer)])[1]
        assert told == {
            "loss_before": 16.0,
            "loss_after": 5.0625,
            "scale": 2.0**-7,
            "learning_rate": 0.78125,
            "trials": 8,
            "accepted": True,
        }
        np.testing.assert_array_equal(session.run(w), np.full(4, 4.125, np.float32))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_failed_search_leaves_no_trace(graph_mode, make):
    w, optimizer, train_op = quadratic(1e9, make, shrink=0.5, min_scale=1e-3)
    with initialized_session() as session:
        step = tf1.train.get_global_step()
        variables = [v for v in tf1.global_variables() if v is not step]
        before = session.run(variables)
        for count in (1, 2, 3):
            told = session.run([train_op, report(optimizer)])[1]
            assert (told["trials"], told["accepted"], told["scale"]) == (10, False, 0.0)
            assert told["loss_after"] == told["loss_before"] == 16.0
            for old, new in zip(before, session.run(variables), strict=True):
                assert old.tobytes() == new.tobytes()
            assert session.run(step) == count


def test_keep_last_stays_at_the_last_trial(graph_mode):
    w, optimizer, train_op = quadratic(1e9, shrink=0.5, min_scale=0.2, on_failure="keep_last")
    with initialized_session() as session:
        told = session.run([train_op, report(optimizer)])[1]
        assert (told["trials"], told["accepted"], told["scale"]) == (3, False, 0.25)
        np.testing.assert_allclose(session.run(w), np.full(4, 1 + 4e9 / 4), rtol=1e-6)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_accepted_at_once_is_the_wrapped_optimizers_own_step(graph_mode, make):
    target = np.linspace(-1, 1, 7)

    def weights_after_steps(wrap):
        with tf.Graph().as_default():
            w = tf1.get_variable("w", initializer=np.ones(7, np.float32))
            loss = tf.reduce_sum(tf.abs(w - target) ** 1.5)
            train_op = wrap(make(0.01)).minimize(loss)
            with initialized_session() as session:
                for _ in range(5):
                    session.run(train_op)
                return session.run(tf1.global_variables())

    for plain, searched in zip(
        weights_after_steps(lambda optimizer: optimizer),
        weights_after_steps(LineSearchOptimizer),
        strict=True,
    ):
        assert plain.tobytes() == searched.tobytes()


def test_ten_thousand_failed_steps_do_not_drift():
    with tf.Graph().as_default():
        w, _, train_op = quadratic(1e9, shrink=0.01, min_scale=0.5)
        with initialized_session() as session:
            session.run(w.assign(np.array([0.1, 0.2, 0.3, 0.7], np.float32)))
            before = session.run(w)
            step = session.make_callable(train_op)
            for _ in range(10_000):
                step()
            assert session.run(w).tobytes() == before.tobytes()


@pytest.mark.parametrize("threads", [1, 4])
def test_a_thousand_steps_give_the_same_trace(graph_mode, threads):
    w = tf1.get_variable("w", initializer=np.linspace(1, 2, 50))
    scales = tf.constant(np.logspace(0, 2, 50))
    loss = tf.reduce_sum(scales * w**2)
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(0.125), shrink=0.5)
    train_op = optimizer.minimize(loss)
    config = tf1.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )
    with tf1.Session(config=config) as session:
        session.run(tf1.global_variables_initializer())
        step = session.make_callable([optimizer.trials, train_op])
        trials = [step()[0] for _ in range(1000)]
        weights = session.run(w)
    expected, expected_trials = np.linspace(1, 2, 50), []
    for _ in range(1000):
        expected, count = numpy_step(expected, np.logspace(0, 2, 50))
        expected_trials.append(count)
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-300)
    assert trials == expected_trials


def numpy_step(w, scales, rate=0.125, shrink=0.5, min_scale=1e-5):
    loss, step, scale = np.sum(scales * w**2), -rate * 2 * scales * w, 1.0
    for count in range(1, 100):
        if np.sum(scales * (w + scale * step) ** 2) < loss:
            return w + scale * step, count
        scale *= shrink
        if scale < min_scale:
            return w, count
    raise AssertionError("the floor was not met")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_million_weights_are_put_back_bit_for_bit(graph_mode, dtype):
    start = np.random.RandomState(0).standard_normal(1_000_000).astype(dtype)
    w = tf1.get_variable("w", initializer=start)
    loss = tf.reduce_sum(w**2)
    train_op = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1e9), min_scale=0.1).minimize(
        loss
    )
    with initialized_session() as session:
        session.run(train_op)
        assert session.run(w).tobytes() == start.tobytes()


def test_a_trial_that_is_not_finite_is_rejected(graph_mode):
    # The gradient is 1, and the loss is nan from w = 0 on down: at rates of 1 and above.
    w = tf1.get_variable("w", initializer=1.0)
    loss = tf.math.log(w)
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(10.0), shrink=0.5)
    train_op = optimizer.minimize(loss)
    with initialized_session() as session:
        _, rate = session.run([train_op, optimizer.learning_rate])
        assert rate == 0.625
        assert session.run(w) == 0.375


def test_a_loss_that_is_not_finite_is_an_error_and_changes_nothing(graph_mode):
    x = tf1.placeholder(tf.float32, [])
    w = tf1.get_variable("w", initializer=1.0)
    train_op = LineSearchOptimizer(tf1.train.AdamOptimizer(1.0)).minimize(w * x)
    with initialized_session() as session:
        before = session.run(tf1.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError, match="before the step is not finite"):
            session.run(train_op, {x: np.nan})
        assert session.run(tf1.global_variables()) == before


def test_a_trial_draws_the_same_dropout_mask(graph_mode):
    w = tf1.get_variable("w", initializer=np.linspace(1, 2, 1000, dtype=np.float32))
    loss = tf.reduce_sum(tf1.nn.dropout(w, rate=0.5))
    optimizer = LineSearchOptimizer(
        tf1.train.GradientDescentOptimizer(0.0),
        min_scale=0.01,
        on_failure="keep_last",
        relative_tolerance=0.0,
    )
    train_op = optimizer.minimize(loss)
    with initialized_session() as session:
        losses = set()
        for _ in range(3):
            told = session.run([train_op, report(optimizer)])[1]
            assert told["loss_before"] == told["loss_after"]
            assert told["trials"] == 4
            losses.add(float(told["loss_before"]))
        assert len(losses) == 3


def test_a_batch_is_fetched_once_and_passes_are_counted(flow_mode):
    seen = []

    def count(name, value):
        def counted(value):
            seen.append(name)
            return value

        return tf.reshape(tf1.py_func(counted, [value], value.dtype), value.shape)

    @tf.custom_gradient
    def passed(value):
        return count("forward", value), lambda gradient: count("backward", gradient)

    batch = tf1.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next()
    batch = tf.cast(count("batch", batch), tf.float32)
    w = tf1.get_variable("w", initializer=1.0)
    optimizer = LineSearchOptimizer(
        tf1.train.GradientDescentOptimizer(100.0), shrink=0.5, self_test=False
    )
    train_op = optimizer.minimize((passed(tf.identity(w)) - 3.0) ** 2 + 0 * batch)
    with initialized_session() as session:
        _, trials = session.run([train_op, optimizer.trials])
    counts = {name: seen.count(name) for name in seen}
    assert (trials, counts) == (8, {"batch": 1, "forward": 1 + 8, "backward": 1})


def test_moving_averages_move_once_whatever_the_trials(graph_mode):
    w = tf1.get_variable("w", initializer=1.0)
    average = tf1.get_variable("average", initializer=0.0, trainable=False)
    loss = (w - 3.0) ** 2
    update = tf1.assign_add(average, 0.25 * w)
    tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(100.0), shrink=0.5)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss)
    with initialized_session() as session:
        assert session.run([train_op, optimizer.trials])[1] == 8
        assert session.run(average) == 0.25


def test_gradients_changed_between_compute_and_apply(graph_mode):
    w = tf1.get_variable("w", initializer=np.ones(4, np.float32))
    optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0), shrink=0.5)
    grads_and_vars = optimizer.compute_gradients(tf.reduce_sum((w - 3.0) ** 2))
    clipped = [(tf.clip_by_value(gradient, -1.0, 1.0), v) for gradient, v in grads_and_vars]
    train_op = optimizer.apply_gradients(clipped, tf1.train.create_global_step())
    with initialized_session() as session:
        session.run(train_op)
        np.testing.assert_array_equal(session.run(w), np.full(4, 2.0, np.float32))


@pytest.mark.parametrize(("sign", "uphill"), [(1.0, False), (-1.0, True)])
def test_rows_left_out_between_compute_and_apply(graph_mode, sign, uphill):
    w = tf1.get_variable("w", initializer=np.ones((6, 2), np.float32))
    optimizer = LineSearchOptimizer(
        tf1.train.GradientDescentOptimizer(0.125), condition="armijo", on_ascent="restore"
    )
    ((gradient, _),) = optimizer.compute_gradients(
        tf.reduce_sum(tf.square(tf.gather(w, [1, 3, 3]))), var_list=[w]
    )
    first = tf.IndexedSlices(sign * gradient.values[:1], gradient.indices[:1])
    train_op = optimizer.apply_gradients([(first, w)])
    with initialized_session() as session:
        told = session.run([optimizer.ascent, optimizer.accepted, train_op])
        assert told[:2] == [uphill, not uphill]
        assert session.run(w)[1].tolist() == ([1.0, 1.0] if uphill else [0.75, 0.75])


def test_the_floor_may_follow_the_rate(graph_mode):
    rate = tf1.get_variable("rate", initializer=1.0, trainable=False)
    w = tf1.get_variable("w", initializer=1.0)
    optimizer = LineSearchOptimizer(
        tf1.train.GradientDescentOptimizer(rate), shrink=0.5, min_scale=0.2 / rate
    )
    # The gradient points uphill, so that no trial is accepted.
    train_op = optimizer.apply_gradients([(tf.constant(-1.0), w)], loss=w * 1.0)
    with initialized_session() as session:
        assert session.run([train_op, optimizer.trials])[1] == 3
        session.run(rate.assign(0.1))
        assert session.run([train_op, optimizer.trials])[1] == 1


def test_names_are_those_of_the_wrapped_optimizer(graph_mode):
    def names(wrap):
        with tf.Graph().as_default():
            w = tf1.get_variable("w", initializer=1.0)
            step = tf1.train.create_global_step()
            wrap(tf1.train.AdamOptimizer(0.1)).minimize(w * w, global_step=step)
            return [v.name for v in tf1.global_variables()]

    assert names(LineSearchOptimizer) == names(lambda optimizer: optimizer)


def test_in_tensorflows_own_monitored_session(graph_mode, tmp_path):
    w, optimizer, train_op = quadratic(0.1)
    hooks = [tf1.train.StopAtStepHook(last_step=5)]
    with tf1.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=2
    ) as session:
        while not session.should_stop():
            session.run(train_op)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-5")


class TestRefusals:
    """What cannot be searched is refused when the graph is built, by a message that names it."""

    def test_no_path_from_a_variable_to_the_loss(self, graph_mode):
        tf1.get_variable("w", initializer=1.0)
        with pytest.raises(UsageError, match=r"does not depend on any of \['w:0'\]"):
            LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0)).minimize(tf.constant(2.0))

    def test_a_random_draw_whose_distribution_depends_on_a_variable(self, graph_mode):
        w = tf1.get_variable("w", initializer=[1.0])
        loss = tf.reduce_sum(w) + tf.reduce_sum(tf.random.poisson([3], tf.abs(w)))
        with pytest.raises(UsageError, match=r"depends on w:0 through the op '.*Poisson"):
            LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0)).minimize(loss)

    def test_state_written_on_the_way_to_the_loss(self, graph_mode):
        w = tf1.get_variable("w", initializer=1.0)
        average = tf1.get_variable("average", initializer=0.0, trainable=False)
        moved = tf1.assign(average, 0.9 * average + 0.1 * w)
        loss = w * w + tf.convert_to_tensor(moved)
        with pytest.raises(UsageError, match=r"depends on w:0 through the op '.*Assign"):
            LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0)).minimize(loss)

    def test_two_losses_and_no_word_which(self, graph):
        w = tf1.get_variable("w", initializer=1.0)
        optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0))
        optimizer.compute_gradients(w * w)
        pairs = optimizer.compute_gradients(w * w * w)
        with pytest.raises(UsageError, match="was called for 2 losses"):
            optimizer.apply_gradients(pairs)

    def test_gradients_of_a_loss_it_never_saw(self, graph):
        w = tf1.get_variable("w", initializer=1.0)
        optimizer = LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0))
        with pytest.raises(UsageError, match=r"apply_gradients\(\.\.\., loss=loss\)"):
            optimizer.apply_gradients([(tf.gradients(w * w, w)[0], w)])

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"shrink": 1.0}, "shrink=1.0 cannot be used: give a finite number > 0 and < 1"),
            ({"shrink": float("nan")}, "shrink=nan"),
            ({"min_scale": 0}, "min_scale=0"),
            ({"min_scale": 2.0}, "min_scale=2.0"),
            ({"condition": "wolfe"}, "condition='wolfe' cannot be used: choose one of 'decrease'"),
            ({"on_failure": "ignore"}, "on_failure='ignore'"),
        ],
    )
    def test_settings(self, arguments, message):
        with pytest.raises(UsageError) as error:
            LineSearchOptimizer(tf1.train.GradientDescentOptimizer(1.0), **arguments)
        assert message in str(error.value)

    def test_what_is_not_an_optimizer(self):
        with pytest.raises(UsageError, match=r"optimizer=0\.1 cannot be searched"):
            LineSearchOptimizer(0.1)
