import glob

import numpy as np
import pytest
import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1


def train(directory, *, to_step, crash_at=None, every=5, summary_dir=None, summarize=None):
    """Counts to a step, with the step as a summary at each; a crash loses what is not saved."""
    with tf.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        train_op = tf1.assign_add(step, 1)
        with tf.control_dependencies([train_op]):
            tf1.summary.scalar("value", tf.cast(step.read_value(), tf.float32))
        if summarize is not None:
            summarize()
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory),
            summary_dir=summary_dir,
            save_checkpoint_steps=every,
            save_summaries_steps=1,
        ) as session:
            reached = 0
            while reached < to_step:
                reached = int(session.run(train_op))
                if reached == crash_at:
                    raise tf.errors.InternalError(None, None, "crash")


def events_in(directory):
    for path in sorted(glob.glob(f"{directory}/events*")):
        yield from tf1.train.summary_iterator(path)


def values_after_purging(directory):
    """(step, value) pairs as a reader sees them that drops what a START mark makes void."""
    points = []
    for event in events_in(directory):
        if event.session_log.status == tf1.SessionLog.START:
            points = [point for point in points if point[0] < event.step]
        points += [(event.step, v.simple_value) for v in event.summary.value if v.tag == "value"]
    return points


def test_each_step_is_seen_once_after_a_crash(tmp_path):
    with pytest.raises(tf.errors.InternalError):
        train(tmp_path, to_step=20, crash_at=17, every=10)
    assert len(values_after_purging(tmp_path)) == 17
    train(tmp_path, to_step=20)
    assert values_after_purging(tmp_path) == [(step, step) for step in range(1, 21)]
    starts = [e.step for e in events_in(tmp_path) if e.session_log.status == tf1.SessionLog.START]
    assert starts == [1, 11]


def test_an_evaluation_beside_it_loses_nothing(tmp_path):
    train(tmp_path, to_step=5, summary_dir=str(tmp_path / "mine"))
    train(tmp_path, to_step=6)
    assert [step for step, _ in values_after_purging(tmp_path / "mine")] == [1, 2, 3, 4, 5]


def test_a_short_run_and_a_crash_show_their_points(tmp_path):
    train(tmp_path / "one", to_step=1)
    assert values_after_purging(tmp_path / "one") == [(1, 1)]
    with pytest.raises(tf.errors.InternalError):
        train(tmp_path / "three", to_step=9, crash_at=3)
    assert values_after_purging(tmp_path / "three") == [(1, 1), (2, 2), (3, 3)]


def test_a_histogram_that_is_not_finite_is_left_out(tmp_path, caplog):
    def summarize():
        step = tf1.train.get_global_step()
        late = tf.cast(step, tf.float32) >= 2
        tf1.summary.histogram("weights", tf.where(late, [1.0, np.inf], [1.0, 2.0]))
        tf1.summary.histogram("counts", [1, 2])

    train(tmp_path, to_step=4, summarize=summarize)
    tags = {event.step: {v.tag for v in event.summary.value} for event in events_in(tmp_path)}
    assert tags[1] >= {"value", "weights", "counts"}
    assert tags[4] == {"value", "counts"}
    assert "no histogram of weights at step 4: its values are not finite" in caplog.text
