import os

import numpy as np
import pytest
import tensorflow as tf
import tiny
from graph_modes import GRAPH_MODES

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


def test_the_newest_export_has_the_greatest_number(estimator, tmp_path):
    """Even where the older were made faster than one a second, and some are gone."""
    base = tmp_path / "export"
    (base / "4000000000").mkdir(parents=True)
    (base / "temp-5000000000").mkdir()
    directory = estimator.export_saved_model(str(base), raw_receiver)
    assert os.path.basename(directory) == b"4000000001"


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
    with pytest.raises(graphtrain.UsageError, match="mode='test' cannot be used: choose one of"):
        estimator.export_saved_model("export", raw_receiver, experimental_mode="test")
    with pytest.raises(graphtrain.UsageError, match="no mode to export"):
        estimator.experimental_export_all_saved_models("export", {})


def test_a_checkpoint_that_lacks_a_variable_leaves_nothing(estimator, tmp_path):
    def model_fn(features, mode):
        extra = tf1.get_variable("extra", initializer=1.0)
        return graphtrain.EstimatorSpec(mode, predictions=features * extra)

    other = graphtrain.Estimator(model_fn, estimator.model_dir)
    with pytest.raises(
        graphtrain.UsageError, match="not fit .* Missing in the checkpoint: extra. Unused"
    ):
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


def supervised_receiver():
    features = tf1.placeholder(tf.float32, [None, 2])
    labels = tf1.placeholder(tf.int32, [None])
    return export.SupervisedInputReceiver(features, labels, {"x": features, "y": labels})


def test_all_modes_in_one_directory(estimator, tmp_path):
    directory = estimator.experimental_export_all_saved_models(
        tmp_path / "export",
        {"infer": raw_receiver, "eval": supervised_receiver, "train": supervised_receiver},
    ).decode()
    weights = estimator.get_variable_value("weights")
    expected = next(estimator.predict(points_only, yield_single_examples=False))
    for tags, key in [("serve", "serving_default"), ("eval", "eval"), ("train", "train")]:
        with tf.Graph().as_default() as graph, tf1.Session() as session:
            loaded = tf1.saved_model.load(session, [tags], directory)
            (variable,) = tf1.global_variables("weights:")
            np.testing.assert_array_equal(session.run(variable), weights)
            signature = loaded.signature_def[key]
            outputs = {name: info.name for name, info in signature.outputs.items()}
            if tags == "serve":
                assert sorted(outputs) == ["class", "probabilities"]
                continue
            assert sorted(outputs) == [
                "loss",
                "metrics/accuracy/update_op",
                "metrics/accuracy/value",
                "predictions/class",
                "predictions/probabilities",
            ]
            feeds = {signature.inputs["x"].name: POINTS, signature.inputs["y"].name: [0, 1, 2]}
            session.run(outputs["metrics/accuracy/update_op"], feeds)
            assert 0 <= session.run(outputs["metrics/accuracy/value"]) <= 1
            if tags == "eval":
                answer = session.run(outputs["predictions/probabilities"], feeds)
                np.testing.assert_array_equal(answer, expected["probabilities"])
            else:
                (train_op,) = graph.get_collection(tf1.GraphKeys.TRAIN_OP)
                session.run(train_op, feeds)
                assert session.run(tf1.train.get_global_step()) == 6
                assert not np.array_equal(session.run(variable), weights)


def test_one_mode_that_is_not_predict(estimator, tmp_path):
    directory = estimator.export_saved_model(
        tmp_path / "export", supervised_receiver, experimental_mode=graphtrain.ModeKeys.EVAL
    ).decode()
    with tf.Graph().as_default(), tf1.Session() as session:
        loaded = tf1.saved_model.load(session, ["eval"], directory)
        assert list(loaded.signature_def) == ["eval"]
        assert loaded.signature_def["eval"].method_name == "tensorflow/supervised/eval"


def test_the_old_spelling(estimator, tmp_path, caplog):
    directory = estimator.export_savedmodel(tmp_path / "export", raw_receiver)
    assert os.path.exists(os.path.join(directory.decode(), "saved_model.pb"))
    assert "export_savedmodel is deprecated: use export_saved_model" in caplog.text
