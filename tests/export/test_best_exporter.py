import os

import numpy as np
import pytest
import tensorflow as tf
from test_exporters import FakeEstimator, offer, receiver_fn

from graphtrain import UsageError, export

tf1 = tf.compat.v1


def more_accurate(best_eval_result, current_eval_result):
    return current_eval_result["accuracy"] > best_eval_result["accuracy"]


def exported(exporter, estimator, tmp_path, metric, values, *, first_step=1):
    """Which of the values are exported; each is that of a checkpoint of its own."""
    results = [
        offer(exporter, estimator, tmp_path, first_step + index, **{metric: value})
        for index, value in enumerate(values)
    ]
    return [value for value, result in zip(values, results, strict=True) if result is not None]


def test_by_default_the_lower_loss_is_better(tmp_path):
    exporter = export.BestExporter(serving_input_receiver_fn=receiver_fn)
    assert exporter.name == "best_exporter"
    losses = [3.0, 3.0, 1.0, 2.0, np.float32(0.5)]
    assert exported(exporter, FakeEstimator(tmp_path), tmp_path, "loss", losses) == [3, 1, 0.5]


def test_a_nan_is_worse_than_any_number(tmp_path):
    exporter = export.BestExporter("best", receiver_fn)
    losses = [np.nan, 3.0, np.nan, 2.0]
    got = exported(exporter, FakeEstimator(tmp_path), tmp_path, "loss", losses)
    np.testing.assert_array_equal(got, [np.nan, 3.0, 2.0])


def test_the_best_is_known_after_a_restart(tmp_path):
    estimator = FakeEstimator(tmp_path)

    def exported_by_a_new_process(accuracies, first_step):
        exporter = export.BestExporter("best", receiver_fn, compare_fn=more_accurate)
        accuracies = [np.float32(accuracy) for accuracy in accuracies]
        return exported(
            exporter, estimator, tmp_path, "accuracy", accuracies, first_step=first_step
        )

    assert exported_by_a_new_process([0.80, 0.85], 1) == pytest.approx([0.80, 0.85])
    assert exported_by_a_new_process([0.79, 0.84], 3) == []
    assert exported_by_a_new_process([0.85], 5) == []
    assert exported_by_a_new_process([0.86], 6) == pytest.approx([0.86])


def test_the_best_ones_are_kept(tmp_path):
    estimator = FakeEstimator(tmp_path)
    exporter = export.BestExporter("best", receiver_fn, exports_to_keep=2)
    exported(exporter, estimator, tmp_path, "loss", [5.0, 4.0, 6.0, 3.0])
    assert sorted(os.listdir(tmp_path / "export" / "best")) == ["1002", "1003", "exports.json"]


def test_the_final_call_exports_nothing_again(tmp_path):
    exporter = export.BestExporter("best", receiver_fn)
    estimator = FakeEstimator(tmp_path)
    offer(exporter, estimator, tmp_path, 1, loss=1.0)
    assert offer(exporter, estimator, tmp_path, 1, final=True, loss=1.0) is None
    assert len(estimator.exports) == 1


def write_evaluation(model_dir, *losses):
    with tf.Graph().as_default(), tf1.summary.FileWriter(str(model_dir / "eval")) as writer:
        for step, loss in enumerate(losses, start=1):
            value = tf1.Summary.Value(tag="loss", simple_value=loss)
            writer.add_summary(tf1.Summary(value=[value]), step)


@pytest.mark.parametrize(
    ("has_exports", "pattern", "expected"),
    [
        (True, "eval/*.tfevents.*", [0.25]),
        (True, None, [0.75, 0.25]),
        (False, "eval/*.tfevents.*", [0.75, 0.25]),
    ],
)
def test_the_evaluations_of_tf_estimator_count_where_it_has_exported(
    has_exports, pattern, expected, tmp_path
):
    if has_exports:
        (tmp_path / "export" / "best" / "1700000000").mkdir(parents=True)
    # The last one is that of the step which is offered now.
    write_evaluation(tmp_path, 1.0, 0.5, 0.75)
    exporter = export.BestExporter("best", receiver_fn, event_file_pattern=pattern)
    losses = [0.75, 0.25]
    got = exported(exporter, FakeEstimator(tmp_path), tmp_path, "loss", losses, first_step=3)
    assert got == expected


def test_arrays_and_texts_among_the_metrics(tmp_path):
    exporter = export.BestExporter("best", receiver_fn)
    estimator = FakeEstimator(tmp_path)
    more = {"curve": np.arange(3.0), "image": b"bytes"}
    assert offer(exporter, estimator, tmp_path, 1, loss=np.float32(2), **more) is not None
    assert offer(exporter, estimator, tmp_path, 2, loss=np.float32(1), **more) is not None


def test_without_the_metric(tmp_path):
    exporter = export.BestExporter("best", receiver_fn)
    estimator = FakeEstimator(tmp_path)
    offer(exporter, estimator, tmp_path, 1, loss=1.0)
    with pytest.raises(UsageError, match="current_eval_result must have a 'loss'"):
        offer(exporter, estimator, tmp_path, 2, accuracy=1.0)


@pytest.mark.parametrize("compare_fn", [None, lambda best, current: True, lambda: True])
def test_bad_compare_fns(compare_fn):
    with pytest.raises(UsageError, match="compare_fn must"):
        export.BestExporter("best", receiver_fn, compare_fn=compare_fn)


def test_without_a_receiver_fn():
    with pytest.raises(UsageError, match="serving_input_receiver_fn must be given"):
        export.BestExporter("best")
