import json

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.distribute import tf_config
from graphtrain.distribute.choose import mode_of
from graphtrain.session import inputs, loop

tf1 = tf.compat.v1


def mode(*, num_ps, task=("worker", 1), **settings):
    """The mode of a worker of a cluster that is not there."""
    jobs = {"worker": ["w:1", "w:2"], "ps": [f"p:{n}" for n in range(1, num_ps + 1)]}
    config = {"cluster": jobs, "task": {"type": task[0], "index": task[1]}}
    cluster = tf_config.parse(json.dumps(config))
    return mode_of(graphtrain.RunConfig("run", cluster=cluster, **settings))


def test_variables_are_on_the_parameter_servers_and_all_else_on_the_worker(graph):
    with mode(num_ps=2).building():
        dataset = tf.data.Dataset.range(9).batch(3)
        iterator = tf1.data.make_initializable_iterator(dataset)
        features, _ = inputs.features_and_labels(iterator.get_next())
        weights = tf1.get_variable("weights", [3])
        counter = tf1.get_variable(
            "counter", [], collections=[tf1.GraphKeys.LOCAL_VARIABLES], use_resource=True
        )
        accuracy, update = tf1.metrics.mean(tf.cast(features, tf.float32))
        product = tf.cast(features, tf.float32) * weights
    assert weights.device == "/job:ps/task:0"
    ours = [counter, accuracy, update, product, iterator.initializer, features]
    assert {placed.device.partition("/device")[0] for placed in ours} == {"/job:worker/task:1"}
    local = tf1.get_collection(tf1.GraphKeys.LOCAL_VARIABLES)
    assert {variable.device for variable in local} == {"/job:worker/task:1"}


def test_bytes_are_balanced_and_slots_are_with_their_variables(graph):
    with mode(num_ps=2).building():
        large = tf1.get_variable("large", [100, 10])
        small = [tf1.get_variable(f"small_{n}", [100, 3], tf.float64) for n in range(2)]
        loss = tf.reduce_sum(large) + tf.cast(sum(map(tf.reduce_sum, small)), tf.float32)
        optimizer = tf1.train.AdamOptimizer(0.1)
        optimizer.minimize(loss, tf1.train.get_or_create_global_step())
    assert large.device == "/job:ps/task:0"
    assert [variable.device for variable in small] == ["/job:ps/task:1"] * 2
    for variable in (large, *small):
        assert optimizer.get_slot(variable, "m").device == variable.device


def test_large_variables_are_split_where_there_are_two_parameter_servers():
    for num_ps, rows in ((1, 4_500_000), (2, 2_250_000), (3, 1_500_000)):
        with tf.Graph().as_default(), mode(num_ps=num_ps).building():
            table = tf1.get_variable("table", [4_500_000, 4])
            fixed = tf1.get_variable("fixed", [8_000_000], trainable=False)
            small = tf1.get_variable("small", [1000, 1000])
            scalar = tf1.get_variable("scalar", initializer=0.0)
        parts = table if num_ps > 1 else [table]
        assert [part.shape.as_list() for part in parts] == [[rows, 4]] * num_ps
        assert len({part.device for part in parts}) == num_ps
        for whole in (fixed, small, scalar):
            assert isinstance(whole, tf.Variable)


def test_a_device_fn_takes_the_place_of_ours(graph):
    with mode(num_ps=1, device_fn=lambda op: "/job:ps/task:0/device:CPU:0").building():
        assert tf.constant(1.0).device == "/job:ps/task:0/device:CPU:0"


def test_what_the_loop_remembers_is_on_the_worker(graph):
    this = mode(num_ps=1)
    with this.building():
        weights = tf1.get_variable("weights", [3])
        loss = tf.reduce_sum(weights)
        step = tf1.train.get_or_create_global_step()
        train_op = tf1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        with this.on_this_process():
            prepared = loop.prepare(train_op, loss)
    memories = [op for op in graph.get_operations() if op.name.startswith("last_loss")]
    assert {op.device for op in memories if op.type == "VarHandleOp"} == {"/job:worker/task:1"}
    assert prepared.step_after.device == "/job:worker/task:1"


def test_the_settings_of_the_session_and_the_shard():
    this = mode(num_ps=2)
    filters = ["/job:ps", "/job:worker/task:1"]
    assert list(this.session_config(tf1.ConfigProto()).device_filters) == filters
    own = tf1.ConfigProto(device_filters=["/job:all"], allow_soft_placement=True)
    assert list(this.session_config(own).device_filters) == ["/job:all"]
    shard = this.input_context()
    assert (shard.num_input_pipelines, shard.input_pipeline_id) == (2, 1)
    assert shard.num_replicas_in_sync == 1


def test_a_line_search_is_refused(graph):
    this = mode(num_ps=1)
    with this.building():
        loss = tf.square(tf1.get_variable("w", initializer=1.0))
        optimizer = graphtrain.LineSearchOptimizer(tf1.train.GradientDescentOptimizer(0.1))
        optimizer.minimize(loss, tf1.train.get_or_create_global_step())
        with pytest.raises(graphtrain.UsageError, match="another worker moves the weights between"):
            this.check()


def test_skipped_steps_are_refused(graph):
    this = mode(num_ps=1, safety=graphtrain.SafetyConfig(on_not_finite="skip_step"))
    with pytest.raises(graphtrain.UsageError, match="would undo what other workers did"):
        this.check()
