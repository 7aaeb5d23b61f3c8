import os

import numpy as np
import pytest
import tensorflow as tf
import tiny
from conftest import GRAPH_MODES

import graphtrain
from graphtrain import export

tf1 = tf.compat.v1
POINTS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float32)


def raw_receiver():
    features = tf1.placeholder(tf.float32, [None, 2], name="features")
    return export.TensorServingInputReceiver(features, {"features": features})


def points_only():
    return tf.data.Dataset.from_tensors(POINTS)


@pytest.fixture
def estimator(tmp_path):
    return graphtrain.Estimator(
        tiny.softmax_model_fn,
        str(tmp_path / "run"),
        graphtrain.RunConfig(tf_random_seed=1, save_checkpoints_steps=5),
        {"dropout": 0.5},
    ).train(tiny.points(), max_steps=5)


@pytest.mark.parametrize("mode", GRAPH_MODES, ids=str)
def test_it_is_served_as_it_predicts(mode, tmp_path):
    with mode.switched_on():
        estimator = graphtrain.Estimator(tiny.softmax_model_fn, str(tmp_path / "run"), params={})
        estimator.train(tiny.points(), max_steps=5)
        directory = estimator.export_saved_model(tmp_path / "export", raw_receiver)
        predicted = next(estimator.predict(points_only, yield_single_examples=False))
    serve = tf.saved_model.load(directory.decode()).signatures["serving_default"]
    for _ in range(2):
        answer = serve(tf.constant(POINTS))["probabilities"]
        np.testing.assert_array_equal(answer.numpy(), predicted["probabilities"])


def test_dropout_is_off(estimator, tmp_path):
    directory = estimator.export_saved_model(str(tmp_path / "export"), raw_receiver)
    serve = tf.saved_model.load(directory.decode()).signatures["serving_default"]
    expected = next(estimator.predict(points_only, yield_single_examples=False))
    answer = serve(tf.constant(POINTS))
    np.testing.assert_array_equal(answer["probabilities"].numpy(), expected["probabilities"])
    np.testing.assert_array_equal(answer["class"].numpy(), expected["class"])


def test_serialized_examples_and_tables(tmp_path):
    def model_fn(features, labels, mode):
        weight = tf1.get_variable("w", initializer=2.0)
        keys = tf.constant(["a", "b"])
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, tf.constant([10.0, 20.0])), -1.0
        )
        value = weight * table.lookup(features["word"])
        return graphtrain.EstimatorSpec(
            mode,
            predictions=value,
            loss=tf.reduce_mean(value),
            train_op=tf1.assign_add(tf1.train.get_global_step(), 1),
            export_outputs={"value": export.RegressionOutput(value)},
        )

    def words():
        return {"word": tf.constant(["a"])}, None

    estimator = graphtrain.Estimator(model_fn, str(tmp_path / "run")).train(words, max_steps=1)
    receiver_fn = export.build_parsing_serving_input_receiver_fn(
        {"word": tf.io.FixedLenFeature([], tf.string)}
    )
    directory = estimator.export_saved_model(str(tmp_path / "export"), receiver_fn).decode()
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"b"]))
    example = tf.train.Example(features=tf.train.Features(feature={"word": feature}))
    signatures = tf.saved_model.load(directory).signatures
    assert sorted(signatures) == ["serving_default", "value"]
    answer = signatures["value"](tf.constant([example.SerializeToString()]))
    assert answer["outputs"].numpy().tolist() == [40.0]


def test_each_export_has_a_directory_of_its_own(estimator, tmp_path):
    names = [
        int(os.path.basename(estimator.export_saved_model(tmp_path / "export", raw_receiver)))
        for _ in range(3)
    ]
    assert names == sorted(set(names))
    assert sorted(os.listdir(tmp_path / "export")) == [str(name) for name in names]


def test_a_certain_checkpoint_as_text_with_assets(estimator, tmp_path):
    (tmp_path / "note.txt").write_text("hello")
    directory = estimator.export_saved_model(
        str(tmp_path / "export"),
        raw_receiver,
        assets_extra={"notes/note.txt": str(tmp_path / "note.txt")},
        as_text=True,
        checkpoint_path=f"{estimator.model_dir}/model.ckpt-0",
    ).decode()
    assert os.path.exists(os.path.join(directory, "saved_model.pbtxt"))
    with open(os.path.join(directory, "assets.extra", "notes", "note.txt")) as note:
        assert note.read() == "hello"
    initial = tf.train.load_variable(f"{estimator.model_dir}/model.ckpt-0", "weights")
    exported = tf.train.load_variable(f"{directory}/variables/variables", "weights")
    np.testing.assert_array_equal(initial, exported)


def test_without_a_checkpoint(tmp_path):
    estimator = tiny.halving(tmp_path / "run")
    with pytest.raises(graphtrain.UsageError, match="no checkpoint in .*run to export"):
        estimator.export_saved_model(str(tmp_path / "export"), raw_receiver)
    with pytest.raises(graphtrain.UsageError, match="must be callable, got None"):
        estimator.export_saved_model(str(tmp_path / "export"), None)
    with pytest.raises(graphtrain.UsageError, match="experimental_mode='eval'"):
        estimator.export_saved_model("export", raw_receiver, experimental_mode="eval")


def test_a_checkpoint_that_lacks_a_variable_leaves_nothing(estimator, tmp_path):
    def model_fn(features, mode):
        extra = tf1.get_variable("extra", initializer=1.0)
        return graphtrain.EstimatorSpec(mode, predictions=features * extra)

    other = graphtrain.Estimator(model_fn, estimator.model_dir)
    with pytest.raises(graphtrain.UsageError, match="model.ckpt-5 lacks extra, which"):
        other.export_saved_model(str(tmp_path / "export"), raw_receiver)
    assert os.listdir(tmp_path / "export") == []


def test_exporting_while_training(estimator, tmp_path):
    directories = []

    class Exports(tf1.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            directories.append(estimator.export_saved_model(tmp_path / "export", raw_receiver))

    estimator.train(tiny.points(), max_steps=10, saving_listeners=[Exports()])
    assert len(set(directories)) == 2
    weights = tf.train.load_variable(f"{directories[-1].decode()}/variables/variables", "weights")
    np.testing.assert_array_equal(weights, estimator.get_variable_value("weights"))
