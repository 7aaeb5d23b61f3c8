import logging

import numpy as np
import pytest
import tensorflow as tf
import tiny

import graphtrain
from graphtrain.estimator.warm_start import VocabInfo, WarmStartReport, WarmStartSettings

tf1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    """Loss mean((w * x - y)^2), and an average that no gradient touches."""
    with tf1.variable_scope(params.get("scope", "")):
        weight = tf1.get_variable("w", [params.get("size", 1)], initializer=tf1.ones_initializer())
        tf1.get_variable("average", initializer=params.get("average", 0.0), trainable=False)
    loss = tf.reduce_mean(tf.square(weight * features - labels))
    optimizer = params.get("optimizer", tf1.train.GradientDescentOptimizer)(0.25)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)


def estimator(directory, warm_start_from=None, **params):
    return graphtrain.Estimator(
        model_fn, str(directory), params=params, warm_start_from=warm_start_from
    )


@pytest.fixture
def trained(tmp_path):
    """A directory of SGD's checkpoint: w = 1/4, average = 5, step 2."""
    estimator(tmp_path / "old", average=5.0).train(tiny.ones(), max_steps=2)
    return str(tmp_path / "old")


def first_values(directory):
    checkpoint = f"{directory}/model.ckpt-0"
    names = graphtrain.Estimator(model_fn, str(directory)).get_variable_names()
    return {name: np.squeeze(tf.train.load_variable(checkpoint, name)).tolist() for name in names}


def test_another_optimizer_takes_the_weights_only(trained, tmp_path):
    new = estimator(tmp_path / "new", trained, optimizer=tf1.train.AdamOptimizer)
    assert new.warm_start_report is None
    new.train(tiny.ones(), max_steps=1)
    values = first_values(tmp_path / "new")
    assert values.pop("beta2_power") == pytest.approx(0.999)
    assert values.pop("beta1_power") == pytest.approx(0.9)
    slots = {"w/Adam": 0.0, "w/Adam_1": 0.0}
    assert values == {"w": 0.25, "average": 0.0, "global_step": 0, **slots}
    assert new.warm_start_report == WarmStartReport(
        checkpoint=trained,
        restored=["w"],
        fresh=["average", "beta1_power", "beta2_power", "global_step", "w/Adam", "w/Adam_1"],
        unused=["average", "global_step"],
    )


def test_it_works_in_every_graph_mode(graph_mode, tmp_path):
    estimator(tmp_path / "old").train(tiny.ones(), max_steps=2)
    new = estimator(tmp_path / "new", str(tmp_path / "old")).train(tiny.ones(), max_steps=1)
    assert first_values(tmp_path / "new")["w"] == 0.25
    assert new.get_variable_value("w") == 0.125


def test_it_is_used_once(trained, tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    new = estimator(tmp_path / "new", trained)
    new.train(tiny.ones(), steps=1)
    assert f"warm start from {trained}. Restored: w. Fresh: average, global_step." in caplog.text
    new.train(tiny.ones(), steps=1)
    assert new.get_variable_value("w") == 1 / 16
    assert (
        f"the warm start from {trained} is ignored, resuming {tmp_path}/new/model.ckpt-1"
        in caplog.text
    )


def test_a_directory_with_a_checkpoint_is_resumed(trained, tmp_path, caplog):
    estimator(tmp_path / "new").train(tiny.ones(), steps=1)
    with caplog.at_level(logging.INFO, "tensorflow"):
        new = estimator(tmp_path / "new", trained).train(tiny.ones(), steps=1)
    assert new.get_variable_value("w") == 0.25
    assert "is ignored, resuming" in caplog.text
    assert new.warm_start_report is None


def test_a_list_takes_other_variables_too(trained, tmp_path):
    settings = WarmStartSettings(f"{trained}/model.ckpt-2", vars_to_warm_start=["w", "average"])
    new = estimator(tmp_path / "new", settings).train(tiny.ones(), max_steps=1)
    assert first_values(tmp_path / "new") == {"w": 0.25, "average": 5.0, "global_step": 0}
    assert new.warm_start_report.fresh == ["global_step"]
    assert new.warm_start_settings is settings


def test_another_name(trained, tmp_path):
    settings = WarmStartSettings(trained, var_name_to_prev_var_name={"scope/w": "w"})
    estimator(tmp_path / "new", settings, scope="scope").train(tiny.ones(), max_steps=1)
    assert first_values(tmp_path / "new")["scope/w"] == 0.25


def test_a_saved_model(trained, tmp_path):
    def predicting(features, mode):
        return graphtrain.EstimatorSpec(mode, tf1.get_variable("w", [1]) * features)

    def receiver():
        features = tf1.placeholder(tf.float32, [None])
        return graphtrain.export.TensorServingInputReceiver(features, features)

    exported = graphtrain.Estimator(predicting, trained).export_saved_model(tmp_path, receiver)
    estimator(tmp_path / "new", exported.decode()).train(tiny.ones(), max_steps=1)
    assert first_values(tmp_path / "new")["w"] == 0.25


def test_what_cannot_be_taken(trained, tmp_path):
    for params, message in [
        ({"scope": "head"}, "Missing in the checkpoint: head/w. Changed in shape: none. Unused"),
        ({"size": 3}, r"Changed in shape: w \(\[1\] in the checkpoint, \[3\] here\). Unused"),
    ]:
        with pytest.raises(graphtrain.UsageError, match=message):
            estimator(tmp_path / "new", trained, **params).train(tiny.ones(), max_steps=1)
        settings = WarmStartSettings(trained, vars_to_warm_start="nothing")
        estimator(tmp_path / str(params), settings, **params).train(tiny.ones(), max_steps=1)
    with pytest.raises(graphtrain.UsageError, match="no checkpoint to warm start from at '.*none'"):
        estimator(tmp_path / "new", f"{tmp_path}/none").train(tiny.ones(), max_steps=1)


def test_settings_that_make_no_sense(trained, tmp_path):
    with pytest.raises(graphtrain.UsageError, match="must be a path or a WarmStartSettings, got 3"):
        estimator(tmp_path, 3)
    with pytest.raises(graphtrain.UsageError, match="must name a checkpoint, got ''"):
        WarmStartSettings("")
    settings = WarmStartSettings(trained, vars_to_warm_start=7)
    with pytest.raises(graphtrain.UsageError, match="must be a regular expression, .* got 7"):
        estimator(tmp_path / "new", settings).train(tiny.ones(), max_steps=1)
    settings = WarmStartSettings(trained, var_name_to_prev_var_name={"v": "w"})
    with pytest.raises(ValueError, match="not used"):
        estimator(tmp_path / "new", settings).train(tiny.ones(), max_steps=1)


def word_model_fn(words):
    def model_fn(features, labels, mode):
        rows = tf.reshape(tf.range(float(words)), [words, 1])
        table = tf1.get_variable("embedding", initializer=rows)
        loss = tf.reduce_sum(tf.square(tf.gather(table, features)))
        train_op = tf1.train.GradientDescentOptimizer(0.0).minimize(
            loss, tf1.train.get_global_step()
        )
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def test_a_vocabulary_in_another_order(tmp_path):
    old_words, new_words = tmp_path / "old.txt", tmp_path / "new.txt"
    old_words.write_text("a\nb\nc\n")
    new_words.write_text("c\nd\na\nb\n")
    graphtrain.Estimator(word_model_fn(3), str(tmp_path / "old")).train(
        lambda: tf.constant([0]), max_steps=1
    )
    vocabulary = VocabInfo(
        new_vocab=str(new_words),
        new_vocab_size=4,
        num_oov_buckets=0,
        old_vocab=str(old_words),
        backup_initializer=tf1.ones_initializer(),
    )
    settings = WarmStartSettings(
        str(tmp_path / "old"), var_name_to_vocab_info={"embedding": vocabulary}
    )
    new = graphtrain.Estimator(
        word_model_fn(4), str(tmp_path / "new"), warm_start_from=settings
    ).train(lambda: tf.constant([0]), max_steps=1)
    assert new.get_variable_value("embedding").ravel().tolist() == [2.0, 1.0, 0.0, 1.0]
    assert new.warm_start_report.restored == ["embedding"]


def test_partitioned_variables(tmp_path):
    def model_fn(features, labels, mode, params):
        table = tf1.get_variable(
            "table",
            [10, 2],
            initializer=tf1.ones_initializer(),
            partitioner=tf1.fixed_size_partitioner(params["parts"]),
        )
        loss = tf.reduce_sum(tf.square(tf.convert_to_tensor(table)))
        optimizer = tf1.train.GradientDescentOptimizer(0.25)
        train_op = optimizer.minimize(loss, tf1.train.get_global_step())
        return graphtrain.EstimatorSpec(mode, loss=loss, train_op=train_op)

    old = graphtrain.Estimator(model_fn, str(tmp_path / "old"), params={"parts": 3})
    old.train(tiny.ones(), max_steps=1)
    new = graphtrain.Estimator(
        model_fn, str(tmp_path / "new"), params={"parts": 2}, warm_start_from=old.model_dir
    )
    new.train(tiny.ones(), max_steps=1)
    assert new.get_variable_value("table").tolist() == [[0.25, 0.25]] * 10
    assert new.warm_start_report.restored == ["table"]
