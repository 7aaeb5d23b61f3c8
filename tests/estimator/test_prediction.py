import logging

import pytest
import tensorflow as tf
import tiny

import graphtrain

tf1 = tf.compat.v1


def numbers():
    return tf.data.Dataset.from_tensor_slices([2.0, 4.0, 6.0]).batch(2)


@pytest.fixture
def estimator(tmp_path):
    """Trained for one step: w = 1/2."""
    return tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)


def test_single_examples(graph_mode, tmp_path):
    estimator = tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)
    assert list(estimator.predict(numbers)) == [
        {"product": 1.0, "twice": 2.0},
        {"product": 2.0, "twice": 4.0},
        {"product": 3.0, "twice": 6.0},
    ]


def test_whole_batches(estimator):
    batches = list(estimator.predict(numbers, yield_single_examples=False))
    assert [batch["product"].tolist() for batch in batches] == [[1.0, 2.0], [3.0]]


def test_labels_are_ignored(estimator):
    assert [p["product"] for p in estimator.predict(tiny.ones(batches=2))] == [0.5, 0.5]


def test_chosen_keys(estimator):
    assert next(estimator.predict(numbers, predict_keys=["twice"])) == {"twice": 2.0}
    with pytest.raises(graphtrain.UsageError, match="predictions are 'product', 'twice'"):
        next(estimator.predict(numbers, predict_keys=["other"]))


def test_predictions_that_are_one_tensor(tmp_path):
    def model_fn(features, mode):
        tf1.get_variable("w", initializer=1.0)
        return graphtrain.EstimatorSpec(mode, predictions=features * 2)

    estimator = graphtrain.Estimator(model_fn, str(tmp_path))
    assert list(estimator.predict(numbers)) == [4.0, 8.0, 12.0]
    with pytest.raises(graphtrain.UsageError, match="are not a dict"):
        next(estimator.predict(numbers, predict_keys=["a"]))


def test_predictions_of_several_lengths(tmp_path):
    def model_fn(features, mode):
        tf1.get_variable("w", initializer=1.0)
        predictions = {"each": features, "all": tf.reduce_sum(features, keepdims=True)}
        return graphtrain.EstimatorSpec(mode, predictions=predictions)

    estimator = graphtrain.Estimator(model_fn, str(tmp_path))
    with pytest.raises(graphtrain.UsageError, match="got {'each': 2, 'all': 1}"):
        next(estimator.predict(numbers))
    batch = next(estimator.predict(numbers, yield_single_examples=False))
    assert batch["all"].tolist() == [6.0]


def test_two_predictions_take_turns(estimator):
    one, other = estimator.predict(numbers), estimator.predict(numbers)
    pairs = [(a["product"], b["twice"]) for a, b in zip(one, other, strict=True)]
    assert pairs == [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]
    assert tf.executing_eagerly()


def test_breaking_off_ends_the_hooks(tmp_path):
    ended = []

    class Ends(tf1.train.SessionRunHook):
        def end(self, session):
            ended.append(1)

    def model_fn(features, labels, mode, params):
        spec = tiny.halving_model_fn(features, labels, mode, params)
        return spec._replace(prediction_hooks=[Ends()])

    estimator = graphtrain.Estimator(model_fn, str(tmp_path), params={})
    for _ in estimator.predict(numbers, hooks=[Ends()]):
        assert tf.executing_eagerly()
        break
    assert ended == [1, 1]


def test_a_certain_checkpoint(estimator, tmp_path):
    first = f"{tmp_path}/model.ckpt-0"
    assert next(estimator.predict(numbers, checkpoint_path=first))["product"] == 2.0


def test_input_without_end_is_warned_of(estimator, caplog):
    with caplog.at_level(logging.WARNING, "tensorflow"):
        next(estimator.predict(lambda: tf.constant([1.0])))
    assert "predict yields without end" in caplog.text
