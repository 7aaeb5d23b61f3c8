import numpy as np
import pytest
import tensorflow as tf

from graphtrain.datasets import image_input_fn, steps_per_epoch
from graphtrain.errors import UsageError
from graphtrain.session.inputs import initial_feeds

tf1 = tf.compat.v1

# Example i is an image of pixels i, labelled i % 10.
IMAGES = np.tile(np.arange(100, dtype=np.uint8)[:, None, None], [1, 28, 28])
LABELS = np.arange(100) % 10


def iterator_of(input_fn):
    return tf1.data.make_initializable_iterator(input_fn())


def batches(input_fn, *, limit=None):
    """The positions and labels of each batch, until the end or the limit."""
    with tf.Graph().as_default() as graph, tf1.Session() as session:
        iterator = iterator_of(input_fn)
        features, labels = iterator.get_next()
        session.run(iterator.initializer, initial_feeds(graph))
        found = []
        while limit is None or len(found) < limit:
            try:
                found.append(session.run((features["image"], labels)))
            except tf.errors.OutOfRangeError:
                break
    return [(np.rint(image[:, 0, 0, 0] * 255).astype(int), label) for image, label in found]


def positions(*args, limit=None, **settings):
    found = batches(image_input_fn(*args, **settings), limit=limit)
    return [batch.tolist() for batch, _ in found]


def test_batches_in_order():
    found = batches(image_input_fn(IMAGES, LABELS, batch_size=32, epochs=2))
    assert [len(batch) for batch, _ in found] == [32, 32, 32, 4] * 2
    seen = np.concatenate([batch for batch, _ in found])
    np.testing.assert_array_equal(seen, np.tile(np.arange(100), 2))
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in found]), seen % 10)


def test_pixels_are_floats_from_0_to_1(graph):
    iterator = iterator_of(image_input_fn(IMAGES * 2 + 57, LABELS, batch_size=100))
    features, labels = iterator.get_next()
    assert features["image"].shape.as_list() == [None, 28, 28, 1]
    assert features["image"].dtype == tf.float32
    assert labels.dtype == tf.int64
    with tf1.Session() as session:
        session.run(iterator.initializer, initial_feeds(graph))
        pixels = session.run(features["image"])
    assert pixels.max() == 1.0
    np.testing.assert_allclose(pixels[0], 57 / 255, rtol=1e-6)


def test_without_labels(graph):
    iterator = iterator_of(image_input_fn(IMAGES, batch_size=8))
    features = iterator.get_next()
    with tf1.Session() as session:
        session.run(iterator.initializer, initial_feeds(graph))
        assert session.run(features)["image"].shape == (8, 28, 28, 1)


def test_without_an_end():
    found = positions(IMAGES, LABELS, batch_size=50, limit=1000)
    assert len(found) == 1000
    assert found[-1] == list(range(50, 100))


def test_a_batch_larger_than_the_set():
    assert positions(IMAGES, LABELS, batch_size=1000, epochs=1) == [list(range(100))]


def test_shuffled_epochs_are_permutations_of_their_own():
    found = positions(IMAGES, LABELS, batch_size=100, epochs=3, shuffle=True, seed=1)
    assert all(sorted(epoch) == list(range(100)) for epoch in found)
    assert len({tuple(epoch) for epoch in [*found, range(100)]}) == 4


def test_the_seed_fixes_the_order():
    def order(seed):
        return positions(IMAGES, LABELS, batch_size=30, epochs=2, shuffle=True, seed=seed)

    assert order(1) == order(1) != order(2)
    assert order(None) == order(0)


def test_without_a_seed_the_graphs_fixes_the_order(graph):
    tf1.set_random_seed(5)
    iterator = iterator_of(image_input_fn(IMAGES, LABELS, batch_size=100, shuffle=True))
    features, _ = iterator.get_next()
    with tf1.Session() as session:
        session.run(iterator.initializer, initial_feeds(graph))
        found = np.rint(session.run(features["image"])[:, 0, 0, 0] * 255)
    (expected,) = positions(IMAGES, LABELS, batch_size=100, epochs=1, shuffle=True, seed=5)
    assert found.tolist() == expected


def test_a_restored_iterator_goes_on_where_it_was(tmp_path):
    checkpoint = str(tmp_path / "iterator")
    input_fn = image_input_fn(IMAGES, LABELS, batch_size=32, shuffle=True, seed=1)

    def run(steps, *, restore):
        with tf.Graph().as_default() as graph, tf1.Session() as session:
            iterator = iterator_of(input_fn)
            features, _ = iterator.get_next()
            saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
            saver = tf1.train.Saver({"iterator": saveable})
            session.run(iterator.initializer, initial_feeds(graph))
            if restore:
                saver.restore(session, checkpoint)
            found = [session.run(features["image"])[:, 0, 0, 0].tolist() for _ in range(steps)]
            saver.save(session, checkpoint)
        return found

    unbroken = run(13, restore=False)
    assert run(6, restore=False) + run(7, restore=True) == unbroken
    saved_bytes = sum(file.stat().st_size for file in tmp_path.glob("iterator.data-*"))
    # A shuffle buffer of even these few images would be larger.
    assert saved_bytes < IMAGES.nbytes


def test_fifty_megabytes_are_not_in_the_graph(graph):
    images = np.zeros([50 * 10**6 // 784, 28, 28], np.uint8)
    image_input_fn(images, np.zeros(len(images), np.int64), batch_size=32, shuffle=True)()
    assert graph.as_graph_def().ByteSize() < 10**5


@pytest.mark.parametrize(
    ("images", "labels", "settings", "message"),
    [
        (IMAGES, LABELS[1:], {}, "99 labels cannot be used with 100 images"),
        (IMAGES[:0], None, {}, r"shape \(0, 28, 28\)"),
        (IMAGES / 255, None, {}, "type float64"),
        (IMAGES[0], None, {}, r"shape \(28, 28\)"),
        (IMAGES, LABELS, {"batch_size": 0}, "batch_size=0"),
        (IMAGES, LABELS, {"epochs": 0}, "epochs=0"),
        (IMAGES, LABELS, {"epochs": 1.5}, "epochs=1.5"),
    ],
)
def test_values_that_make_no_sense(images, labels, settings, message):
    with pytest.raises(UsageError, match=message):
        image_input_fn(images, labels, **{"batch_size": 32, **settings})


def test_steps_per_epoch():
    assert [steps_per_epoch(6000, size) for size in (1, 32, 6000, 7000)] == [6000, 188, 1, 1]
