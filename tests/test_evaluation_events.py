import tensorflow as tf

from graphtrain import evaluation_events

tf1 = tf.compat.v1


def write(directory, suffix, *events):
    with tf.Graph().as_default():
        with tf1.summary.FileWriter(str(directory), filename_suffix=suffix) as writer:
            for step, metrics in events:
                values = [tf1.Summary.Value(tag=k, simple_value=v) for k, v in metrics.items()]
                values.append(tf1.Summary.Value(tag="image", image=tf1.Summary.Image()))
                writer.add_summary(tf1.Summary(value=values), step)


def test_steps_ascend_and_the_later_value_of_a_step_counts(tmp_path):
    write(tmp_path, ".1", (20, {"loss": 0.5, "accuracy": 0.25}), (10, {"loss": 1.0}))
    write(tmp_path, ".2", (20, {"loss": 0.75}))
    read = evaluation_events.read_metrics(str(tmp_path))
    assert list(read.items()) == [(10, {"loss": 1.0}), (20, {"loss": 0.75, "accuracy": 0.25})]


def test_a_pattern(tmp_path):
    write(tmp_path / "eval", "", (1, {"loss": 2.0}))
    write(tmp_path / "eval_other", "", (1, {"loss": 3.0}))
    read = evaluation_events.read_metrics(f"{tmp_path}/eval_*/*tfevents*")
    assert read == {1: {"loss": 3.0}}


def test_nothing_there(tmp_path):
    assert evaluation_events.read_metrics(str(tmp_path / "eval")) == {}


def test_a_torn_file_counts_as_far_as_it_goes(tmp_path):
    write(tmp_path, "", (1, {"loss": 2.0}), (2, {"loss": 1.0}))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    assert evaluation_events.read_metrics(str(tmp_path)) == {1: {"loss": 2.0}}
