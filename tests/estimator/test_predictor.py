import threading

import numpy as np
import pytest
import tensorflow as tf
import tiny

import graphtrain
from graphtrain import export

tf1 = tf.compat.v1


def receiver():
    features = tf1.placeholder(tf.float32, [None], name="x")
    return export.TensorServingInputReceiver(features, {"x": features})


@pytest.fixture
def estimator(tmp_path):
    """Trained for one step: w = 1/2."""
    return tiny.halving(tmp_path).train(tiny.ones(), max_steps=1)


def test_it_is_called_many_times_and_built_once(graph_mode, tmp_path):
    built = []

    def model_fn(features, labels, mode):
        built.append(mode)
        return tiny.halving_model_fn(features, labels, mode, {})

    estimator = graphtrain.Estimator(model_fn, str(tmp_path)).train(tiny.ones(), max_steps=1)
    with estimator.predictor(receiver) as predict:
        for value in (2.0, 4.0, 6.0):
            answer = predict({"x": [value, 0.0]})
            assert answer["product"].tolist() == [value / 2, 0.0]
            assert answer["twice"].tolist() == [value, 0.0]
    assert built == ["train", "infer"]


def test_it_goes_on_with_its_checkpoint(estimator):
    with estimator.predictor(receiver) as predict:
        estimator.train(tiny.ones(), max_steps=2)
        assert predict({"x": [1.0]})["product"] == [0.5]
    first = f"{estimator.model_dir}/model.ckpt-0"
    with estimator.predictor(receiver, checkpoint_path=first) as predict:
        assert predict({"x": [1.0]})["product"] == [1.0]


def test_a_single_input_needs_no_name(estimator):
    with estimator.predictor(receiver) as predict:
        assert predict(np.ones(3, "f"))["product"].tolist() == [0.5] * 3
        assert predict.session.graph is predict.graph


def test_predictions_that_are_one_tensor(estimator):
    def model_fn(features, mode):
        return graphtrain.EstimatorSpec(mode, tf1.get_variable("w", []) * features)

    other = graphtrain.Estimator(model_fn, estimator.model_dir)
    with other.predictor(receiver) as predict:
        assert predict([1.0]).tolist() == [0.5]


def test_threads_may_share_it(estimator):
    answers = {}
    with estimator.predictor(receiver) as predict:

        def ask(value):
            answers[value] = predict([value])["product"].item()

        threads = [threading.Thread(target=ask, args=(float(i),)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {float(i): i / 2 for i in range(8)}


def test_wrong_inputs(estimator, tmp_path):
    with estimator.predictor(receiver) as predict:
        with pytest.raises(graphtrain.UsageError, match=r"must be given \['x'\], got \['y'\]"):
            predict({"y": [1.0]})
    with pytest.raises(graphtrain.UsageError, match="must be callable, got None"):
        estimator.predictor(None)
    with pytest.raises(graphtrain.UsageError, match="no checkpoint in .*: train first"):
        tiny.halving(tmp_path / "new").predictor(receiver)


def test_a_closed_one_says_so(estimator):
    predict = estimator.predictor(receiver)
    predict.close()
    with pytest.raises(RuntimeError, match="closed"):
        predict([1.0])
