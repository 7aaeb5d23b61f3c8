"""The examples of tf.estimator's documentation, written anew, with only the import changed."""

import numpy as np
import pytest
import tensorflow as tf

from graphtrain import estimator as tf_estimator
from graphtrain.models import layers

tf1 = tf.compat.v1
SPECIES = ["setosa", "versicolor", "virginica"]


def flowers():
    """Three clouds of points, one for each species."""
    random = np.random.RandomState(0)
    labels = np.repeat([0, 1, 2], 20)
    centres = np.array([[5.0, 1.5], [5.9, 4.3], [6.6, 5.6]])[labels]
    length, width = (centres + 0.1 * random.randn(60, 2)).astype(np.float32).T
    return {"SepalLength": length, "PetalLength": width}, labels


def train_input_fn(features, labels, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices((dict(features), labels))
    return dataset.shuffle(1000, seed=1).repeat().batch(batch_size)


def eval_input_fn(features, labels, batch_size):
    inputs = dict(features) if labels is None else (dict(features), labels)
    return tf.data.Dataset.from_tensor_slices(inputs).batch(batch_size)


def my_model_fn(features, labels, mode, params):
    net = tf1.feature_column.input_layer(features, params["feature_columns"])
    for units in params["hidden_units"]:
        net = layers.dense(net, units, activation=tf.nn.relu)
    logits = layers.dense(net, params["n_classes"])
    predicted_classes = tf.argmax(logits, 1)
    if mode == tf_estimator.ModeKeys.PREDICT:
        predictions = {
            "class_ids": predicted_classes[:, tf.newaxis],
            "probabilities": tf.nn.softmax(logits),
            "logits": logits,
        }
        return tf_estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = tf1.metrics.accuracy(labels, predicted_classes, name="acc_op")
    tf1.summary.scalar("accuracy", accuracy[1])
    if mode == tf_estimator.ModeKeys.EVAL:
        return tf_estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    optimizer = tf1.train.AdagradOptimizer(learning_rate=0.1)
    train_op = optimizer.minimize(loss, global_step=tf1.train.get_global_step())
    return tf_estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def flower_classifier(directory):
    columns = [tf1.feature_column.numeric_column(key=key) for key in flowers()[0]]
    return tf_estimator.Estimator(
        model_fn=my_model_fn,
        model_dir=str(directory),
        config=tf_estimator.RunConfig(tf_random_seed=1),
        params={"feature_columns": columns, "hidden_units": [10, 10], "n_classes": 3},
    )


def test_the_guide_to_custom_estimators(flow_mode, tmp_path):
    features, labels = flowers()
    for max_steps in (100, 200):
        classifier = flower_classifier(tmp_path / "run")
        classifier.train(lambda: train_input_fn(features, labels, 32), max_steps=max_steps)
    result = classifier.evaluate(lambda: eval_input_fn(features, labels, 32))
    assert result["global_step"] == 200
    assert result["accuracy"] > 0.95
    some = {"SepalLength": [5.0, 5.9, 6.6], "PetalLength": [1.5, 4.3, 5.6]}
    predictions = list(classifier.predict(lambda: eval_input_fn(some, None, 32)))
    assert [SPECIES[p["class_ids"][0]] for p in predictions] == SPECIES
    assert all(p["probabilities"].max() > 0.5 for p in predictions)


COLUMNS = {
    "age": tf.float32,
    "hours": tf.float32,
    "education": tf.string,
    "occupation": tf.string,
}


def census(rows=200):
    """A table in which income depends on age and hours, and on education in a known way."""
    random = np.random.RandomState(1)
    table = {
        "age": random.randint(17, 80, rows).astype(np.float32),
        "hours": random.randint(10, 70, rows).astype(np.float32),
        "education": random.choice(["none", "school", "college"], rows),
        "occupation": random.choice([f"job{i}" for i in range(20)], rows),
    }
    score = (table["age"] > 35) * 1 + (table["hours"] > 30) + (table["education"] == "college")
    return table, (score >= 2).astype(np.float32)


def census_columns():
    column = tf1.feature_column
    age, hours = column.numeric_column("age"), column.numeric_column("hours")
    education = column.categorical_column_with_vocabulary_list(
        "education", ["none", "school", "college"]
    )
    occupation = column.categorical_column_with_hash_bucket("occupation", 50)
    ages = column.bucketized_column(age, [20, 30, 35, 40, 50, 60])
    crossed = column.crossed_column([ages, "education"], hash_bucket_size=100)
    wide = [education, occupation, ages, crossed]
    deep = [
        column.numeric_column("age", normalizer_fn=lambda x: (x - 48) / 18),
        column.bucketized_column(hours, [20, 30, 40, 50]),
        column.indicator_column(education),
        column.embedding_column(occupation, dimension=4),
    ]
    return wide, deep


def wide_and_deep_model_fn(features, labels, mode, params):
    wide, deep = census_columns()
    with tf1.variable_scope("linear"):
        linear_logits = tf1.feature_column.linear_model(features, wide)
    with tf1.variable_scope("dnn"):
        net = tf1.feature_column.input_layer(features, deep)
        for units in params["hidden_units"]:
            net = layers.dense(net, units, activation=tf.nn.relu)
        dnn_logits = layers.dense(net, 1)
    logits = linear_logits + dnn_logits
    probability = tf.sigmoid(logits)
    classes = tf.concat([1 - probability, probability], 1)
    predictions = {"probabilities": classes, "class": tf.argmax(classes, 1)}
    export_outputs = {
        "serving_default": tf_estimator.export.ClassificationOutput(scores=classes),
        "predict": tf_estimator.export.PredictOutput(predictions),
        "regression": tf_estimator.export.RegressionOutput(value=probability),
    }
    if mode == tf_estimator.ModeKeys.PREDICT:
        return tf_estimator.EstimatorSpec(
            mode, predictions=predictions, export_outputs=export_outputs
        )
    labels = tf.reshape(labels, [-1, 1])
    loss = tf1.losses.sigmoid_cross_entropy(labels, logits)
    metrics = {
        "accuracy": tf1.metrics.accuracy(labels, predictions["class"][:, tf.newaxis]),
        "auc": tf1.metrics.auc(labels, probability),
    }
    # One optimizer for each part; neither is given the step, which is advanced after both.
    step_of = {"linear": tf1.train.FtrlOptimizer(0.2), "dnn": tf1.train.AdagradOptimizer(0.1)}
    steps = [
        optimizer.minimize(loss, var_list=tf1.trainable_variables(scope))
        for scope, optimizer in step_of.items()
    ]
    with tf.control_dependencies(steps):
        train_op = tf1.assign_add(tf1.train.get_global_step(), 1)
    return tf_estimator.EstimatorSpec(
        mode, predictions, loss, train_op, metrics, export_outputs=export_outputs
    )


@pytest.fixture(scope="module")
def income_model(tmp_path_factory):
    """The trained model, its first 60 steps made by one Estimator and the rest by another."""
    table, labels = census()
    for max_steps in (60, 120):
        estimator = tf_estimator.Estimator(
            wide_and_deep_model_fn,
            str(tmp_path_factory.getbasetemp() / "income"),
            tf_estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=60),
            params={"hidden_units": [16, 8]},
        )
        tf_estimator.train_and_evaluate(
            estimator,
            tf_estimator.TrainSpec(lambda: train_input_fn(table, labels, 40), max_steps=max_steps),
            tf_estimator.EvalSpec(lambda: eval_input_fn(table, labels, 40), steps=None),
        )
    return estimator


def test_wide_and_deep_learns_and_resumes(income_model):
    table, labels = census()
    result = income_model.evaluate(lambda: eval_input_fn(table, labels, 40))
    assert result["global_step"] == 120
    assert result["accuracy"] > 0.85
    assert result["auc"] > 0.9
    names = income_model.get_variable_names()
    assert "dnn/input_layer/occupation_embedding/embedding_weights" in names
    assert "linear/linear_model/age_bucketized_X_education/weights" in names


def example(row):
    def feature(value):
        if isinstance(value, str):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))
        return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))

    features = {name: feature(value) for name, value in row.items()}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def test_wide_and_deep_is_served(income_model, tmp_path):
    table, _ = census()
    rows = {name: values[:5] for name, values in table.items()}
    expected = next(
        income_model.predict(lambda: eval_input_fn(rows, None, 5), yield_single_examples=False)
    )
    wide, deep = census_columns()
    spec = tf1.feature_column.make_parse_example_spec(wide + deep)
    receiver_fn = tf_estimator.export.build_parsing_serving_input_receiver_fn(spec)
    directory = income_model.export_saved_model(str(tmp_path), receiver_fn).decode()
    signatures = tf.saved_model.load(directory).signatures
    assert sorted(signatures) == ["predict", "regression", "serving_default"]
    examples = tf.constant(
        [example({name: rows[name][i].item() for name in COLUMNS}) for i in range(5)]
    )
    scores = signatures["serving_default"](examples)["scores"].numpy()
    np.testing.assert_allclose(scores, expected["probabilities"], rtol=1e-6)
    answer = signatures["predict"](examples=examples)
    np.testing.assert_array_equal(answer["class"].numpy(), expected["class"])
    value = signatures["regression"](examples)["outputs"].numpy()
    np.testing.assert_allclose(value[:, 0], expected["probabilities"][:, 1], rtol=1e-6)
