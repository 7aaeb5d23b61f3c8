"""A resumed run equals an unbroken one bit for bit: variables, slots, search state, input."""

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.models import layers
from graphtrain.optimize import first_scale
from graphtrain.session import checkpoints, inputs

tf1 = tf.compat.v1

STEPS = 20


class CrashHook(tf1.train.SessionRunHook):
    def __init__(self, step):
        self._left = step

    def after_run(self, run_context, run_values):
        self._left -= 1
        if not self._left:
            # An error of the run itself: nothing is saved after it.
            raise tf.errors.InternalError(None, None, "crash")


def rows():
    """100 rows of 5 numbers, each with a label that depends on them."""
    numbers = np.random.RandomState(1).randn(100, 5).astype(np.float32)
    return numbers, (numbers.sum(axis=1) > 0).astype(np.int64)


def batches():
    """The rows, fed once, shuffled in a buffer of 40, repeated, mapped in parallel, prefetched."""
    fed = [
        inputs.feed_at_initialization(tf1.placeholder(array.dtype, array.shape), array)
        for array in rows()
    ]
    dataset = tf.data.Dataset.from_tensor_slices(tuple(fed)).shuffle(40, seed=3).repeat().batch(7)
    return dataset.map(lambda x, y: (x * 2, y), num_parallel_calls=2).prefetch(2)


def searched(base, **settings):
    return lambda: graphtrain.LineSearchOptimizer(base(), shrink=0.5, min_scale=1e-3, **settings)


def sgd():
    return tf1.train.GradientDescentOptimizer(
        tf1.train.exponential_decay(1.0, tf1.train.get_global_step(), 5, 0.9)
    )


OPTIMIZERS = {
    "sgd": sgd,
    "momentum": lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf1.train.AdamOptimizer(0.05),
    "search-constant": searched(sgd),
    "search-grow": searched(sgd, first_scale=first_scale.Grow(1.3)),
    "search-polyak": searched(sgd, first_scale="polyak"),
    "search-nonmonotone-adam": searched(
        lambda: tf1.train.AdamOptimizer(0.5), condition="nonmonotone", first_scale="grow"
    ),
}


def train(directory, optimizer, *, to_step, crash_at=None, dataset=batches, **settings):
    """Trains a network with dropout and batch norm up to a step, saving every 5."""
    with tf.Graph().as_default():
        tf1.set_random_seed(5)
        step = tf1.train.get_or_create_global_step()
        features, labels = inputs.features_and_labels(dataset())
        hidden = layers.batch_norm(layers.dense(features, 8), training=True, momentum=0.9)
        hidden = layers.dropout(tf.nn.relu(hidden), rate=0.3, training=True)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, layers.dense(hidden, 2))
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            train_op = OPTIMIZERS[optimizer]().minimize(loss, global_step=step)
        hooks = [tf1.train.StopAtStepHook(last_step=to_step)]
        if crash_at is not None:
            hooks.append(CrashHook(crash_at))
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory),
            save_checkpoint_steps=5,
            save_summaries_steps=0,
            log_step_count_steps=0,
            hooks=hooks,
            **settings,
        ) as session:
            while not session.should_stop():
                session.run(train_op)


def tensors_in(directory):
    """All numbers of the newest checkpoint, as bytes."""
    reader = tf.train.load_checkpoint(checkpoints.newest(str(directory)))
    types = reader.get_variable_to_dtype_map()
    return {name: reader.get_tensor(name).tobytes() for name in types if types[name] != tf.variant}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_it_equals_an_unbroken_run(tmp_path, optimizer):
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    train(unbroken, optimizer, to_step=STEPS)
    train(broken, optimizer, to_step=8)
    with pytest.raises(tf.errors.InternalError, match="crash"):
        train(broken, optimizer, to_step=STEPS, crash_at=5)
    train(broken, optimizer, to_step=STEPS)
    assert tensors_in(broken) == tensors_in(unbroken)
    assert len(tensors_in(broken)) > 8


@pytest.mark.parametrize("threads", [1, 4])
def test_it_does_so_with_one_thread_and_with_many(tmp_path, threads):
    config = tf1.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )
    for directory, stops in ((tmp_path / "a", [STEPS]), (tmp_path / "b", [11, STEPS])):
        for stop in stops:
            train(directory, "adam", to_step=stop, config=config)
    assert tensors_in(tmp_path / "a") == tensors_in(tmp_path / "b")


def numbers_seen(directory, dataset, *, steps, declare=None, **safety):
    """Takes so many batches in a session that saves at its end; returns them and the log."""
    with tf.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        if declare is None:
            numbers, _ = inputs.features_and_labels(dataset())
        else:
            numbers = declare(tf1.data.make_initializable_iterator(dataset())).get_next()
        with tf.control_dependencies([numbers]):
            train_op = tf1.assign_add(step, 1)
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory), safety=graphtrain.SafetyConfig(**safety)
        ) as session:
            return [session.run([numbers, train_op])[0].tolist() for _ in range(steps)]


def shuffled(seed=1):
    return lambda: tf.data.Dataset.range(100).shuffle(50, seed=seed).repeat().batch(7)


def python_mapped():
    return tf.data.Dataset.range(100).map(
        lambda x: tf.ensure_shape(tf1.py_func(lambda v: v, [x], tf.int64), [])
    )


def generated():
    return tf.data.Dataset.from_generator(lambda: iter(range(100)), tf.int64, [])


def one_shot():
    return tf1.data.make_one_shot_iterator(shuffled()()).get_next()


@pytest.mark.parametrize("declare", [None, graphtrain.declare_iterator])
@pytest.mark.parametrize("first", [3, 17])
def test_the_input_goes_on_where_it_was(tmp_path, declare, first):
    unbroken = numbers_seen(tmp_path / "unbroken", shuffled(), steps=30, declare=declare)
    seen = [
        *numbers_seen(tmp_path / "run", shuffled(), steps=first, declare=declare),
        *numbers_seen(tmp_path / "run", shuffled(), steps=30 - first, declare=declare),
    ]
    assert seen == unbroken


def drawn(shuffle):
    return lambda: shuffle(tf.data.Dataset.range(60)).repeat()


UNSEEDED = {
    "reshuffled": drawn(lambda data: data.shuffle(50, reshuffle_each_iteration=True)),
    "in one order": drawn(lambda data: data.shuffle(50, reshuffle_each_iteration=False)),
    "in a function": drawn(lambda data: data.window(9).flat_map(lambda w: w.shuffle(9))),
    "sampled": drawn(lambda data: tf.data.Dataset.sample_from_datasets([data, data])),
}
SEEDED = {
    "reshuffled": drawn(lambda data: data.shuffle(50, seed=1, reshuffle_each_iteration=True)),
    "seed 0": drawn(lambda data: data.shuffle(50, seed=0)),
    "in a function": drawn(lambda data: data.window(9).flat_map(lambda w: w.shuffle(9, seed=2))),
    "sampled": drawn(lambda data: tf.data.Dataset.sample_from_datasets([data, data], seed=3)),
}


def warnings_of_seeds(caplog):
    return [r.getMessage() for r in caplog.records if "without a seed" in r.getMessage()]


@pytest.mark.parametrize("kind", UNSEEDED)
def test_an_order_that_is_drawn_without_a_seed_is_warned_of(tmp_path, caplog, kind):
    numbers_seen(tmp_path, UNSEEDED[kind], steps=1)
    (warning,) = warnings_of_seeds(caplog)
    assert warning.startswith("the order of the input 'IteratorV2' is drawn without a seed (")
    assert "tf.compat.v1.set_random_seed, RunConfig.tf_random_seed" in warning


@pytest.mark.parametrize("kind", SEEDED)
def test_one_with_a_seed_is_not(tmp_path, caplog, kind):
    first = numbers_seen(tmp_path / "a", SEEDED[kind], steps=130)
    assert numbers_seen(tmp_path / "b", SEEDED[kind], steps=130) == first
    assert not warnings_of_seeds(caplog)


def test_nor_one_in_a_graph_with_a_seed(tmp_path, caplog):
    def seeded_graph():
        tf1.set_random_seed(5)
        return UNSEEDED["reshuffled"]()

    first = numbers_seen(tmp_path / "a", seeded_graph, steps=130)
    assert numbers_seen(tmp_path / "b", seeded_graph, steps=130) == first
    assert not warnings_of_seeds(caplog)


def test_a_one_shot_iterator_without_a_seed_is_warned_of_too(tmp_path, caplog):
    def unseeded():
        return tf1.data.make_one_shot_iterator(UNSEEDED["reshuffled"]()).get_next()

    numbers_seen(tmp_path, unseeded, steps=1)
    assert len(warnings_of_seeds(caplog)) == 1


def test_without_a_seed_each_element_of_an_epoch_still_comes_once(tmp_path):
    dataset = lambda: tf.data.Dataset.range(60).shuffle(50)  # noqa: E731
    seen = numbers_seen(tmp_path, dataset, steps=23) + numbers_seen(tmp_path, dataset, steps=37)
    assert sorted(seen) == list(range(60))


def test_a_one_shot_iterator_goes_on_too(tmp_path):
    unbroken = numbers_seen(tmp_path / "unbroken", one_shot, steps=9)
    seen = [numbers_seen(tmp_path / "run", one_shot, steps=steps) for steps in (4, 5)]
    assert seen[0] + seen[1] == unbroken


def test_an_op_with_a_state_of_its_own_is_named_once(tmp_path, caplog):
    seen = numbers_seen(tmp_path, python_mapped, steps=5)
    seen += numbers_seen(tmp_path, python_mapped, steps=5)
    assert seen == list(range(10))
    named = [r.getMessage() for r in caplog.records if "PyFunc is stateful" in r.getMessage()]
    assert len(named) == 2  # One in each session.


def test_a_generator_begins_anew_and_this_is_said(tmp_path, caplog):
    seen = numbers_seen(tmp_path, generated, steps=5)
    assert "cannot be saved (GeneratorDataset runs a Python generator)" in caplog.text
    assert seen + numbers_seen(tmp_path, generated, steps=2) == [0, 1, 2, 3, 4, 0, 1]


def test_it_can_be_skipped_ahead(tmp_path):
    numbers_seen(tmp_path, generated, steps=5)
    assert numbers_seen(tmp_path, generated, steps=2, skip_input_ahead=True) == [5, 6]
    assert numbers_seen(tmp_path, generated, steps=2, skip_input_ahead=True) == [7, 8]


def test_a_position_can_be_left_out(tmp_path):
    first = numbers_seen(tmp_path, shuffled(), steps=3, save_input_position=False)
    assert numbers_seen(tmp_path, shuffled(), steps=3) == first
    names = [name for name, _ in tf.train.list_variables(checkpoints.newest(str(tmp_path)))]
    assert "input_position/IteratorV2" in names


def test_a_large_position_is_warned_of(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("graphtrain.session.input_position.LARGE_BYTES", 1000)
    numbers_seen(tmp_path, shuffled(), steps=3)
    warnings = [r for r in caplog.records if "save_input_position=False" in r.getMessage()]
    assert len(warnings) == 1


def test_a_position_that_does_not_fit_is_dropped(tmp_path, caplog):
    numbers_seen(tmp_path, shuffled(), steps=3)
    other = lambda: tf.data.Dataset.range(100).batch(5).prefetch(1)  # noqa: E731
    assert numbers_seen(tmp_path, other, steps=1) == [[0, 1, 2, 3, 4]]
    assert "does not fit the input, which starts anew" in caplog.text


def test_a_checkpoint_without_a_position_is_restored(tmp_path):
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        with tf1.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
            session.run(train_op)
    assert numbers_seen(tmp_path, lambda: tf.data.Dataset.range(9), steps=2) == [0, 1]
    assert checkpoints.newest(str(tmp_path)).endswith("-3")


def test_with_several_steps_in_one_run(tmp_path):
    def model_fn(features, labels, mode):
        hidden = layers.dropout(layers.dense(features, 8), rate=0.3, training=True)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, layers.dense(hidden, 2))
        optimizer = searched(lambda: tf1.train.AdamOptimizer(0.05), first_scale="grow")()
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def train_to(directory, *stops, steps_per_run):
        config = graphtrain.RunConfig(
            tf_random_seed=5, save_checkpoints_steps=7, steps_per_run=steps_per_run
        )
        for stop in stops:
            graphtrain.Estimator(model_fn, str(directory), config).train(batches, max_steps=stop)
        return tensors_in(directory)

    unbroken = train_to(tmp_path / "unbroken", STEPS, steps_per_run=1)
    assert train_to(tmp_path / "broken", 9, STEPS, steps_per_run=4) == unbroken
