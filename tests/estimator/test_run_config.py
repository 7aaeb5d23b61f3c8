import json
import pathlib

import pytest
import tensorflow as tf

import graphtrain
from graphtrain.estimator.run_config import default_session_config

tf1 = tf.compat.v1


class ConfigWithName(graphtrain.RunConfig):
    def __init__(self, name, **settings):
        super().__init__(**settings)
        self.name = name


def test_defaults_are_those_of_tf_estimator():
    config = graphtrain.RunConfig()
    assert config.model_dir is None
    assert config.tf_random_seed is None
    assert config.save_summary_steps == 100
    assert config.save_checkpoints_steps is None
    assert config.save_checkpoints_secs == 600
    assert config.session_config is None
    assert config.keep_checkpoint_max == 5
    assert config.keep_checkpoint_every_n_hours == 10000
    assert config.log_step_count_steps == 100
    assert config.session_creation_timeout_secs == 7200
    assert config.checkpoint_save_graph_def is True


def test_steps_or_seconds_but_not_both():
    assert graphtrain.RunConfig(save_checkpoints_steps=5).save_checkpoints_secs is None
    assert graphtrain.RunConfig(save_checkpoints_secs=5).save_checkpoints_steps is None
    never = graphtrain.RunConfig(save_checkpoints_secs=None)
    assert (never.save_checkpoints_steps, never.save_checkpoints_secs) == (None, None)
    with pytest.raises(graphtrain.UsageError, match="cannot both be set, got 5 steps and 6"):
        graphtrain.RunConfig(save_checkpoints_steps=5, save_checkpoints_secs=6)


def test_replace_makes_a_new_one():
    config = graphtrain.RunConfig(save_checkpoints_steps=5)
    changed = config.replace(save_checkpoints_secs=60, tf_random_seed=3)
    assert (changed.save_checkpoints_steps, changed.save_checkpoints_secs) == (None, 60)
    assert changed.tf_random_seed == 3
    assert (config.save_checkpoints_steps, config.tf_random_seed) == (5, None)
    with pytest.raises(graphtrain.UsageError, match="cannot both be set"):
        config.replace(save_checkpoints_secs=60, save_checkpoints_steps=5)
    with pytest.raises(graphtrain.UsageError, match="cannot replace save_steps; it can replace"):
        config.replace(save_steps=5)


def test_settings_are_read_only():
    with pytest.raises(AttributeError):
        graphtrain.RunConfig().model_dir = "/tmp"


def test_a_subclass_keeps_its_own_settings():
    changed = ConfigWithName("mine", model_dir="/tmp/a").replace(model_dir="/tmp/b")
    assert isinstance(changed, ConfigWithName)
    assert (changed.name, changed.model_dir) == ("mine", "/tmp/b")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("model_dir", ""),
        ("tf_random_seed", 1.5),
        ("tf_random_seed", True),
        ("save_summary_steps", -1),
        ("save_checkpoints_steps", 0.5),
        ("save_checkpoints_secs", float("nan")),
        ("session_config", {"allow_soft_placement": True}),
        ("keep_checkpoint_max", -1),
        ("keep_checkpoint_every_n_hours", 0),
        ("log_step_count_steps", 0),
        ("device_fn", lambda node: "/cpu:0"),
        ("train_distribute", "a strategy"),
        ("eval_distribute", "a strategy"),
        ("experimental_distribute", "a strategy"),
        ("protocol", "carrier pigeon"),
        ("experimental_max_worker_delay_secs", -1),
        ("session_creation_timeout_secs", 0),
        ("checkpoint_save_graph_def", "no"),
    ],
)
def test_values_that_make_no_sense(setting, value):
    with pytest.raises(graphtrain.UsageError, match=setting):
        graphtrain.RunConfig(**{setting: value})
    with pytest.raises(graphtrain.UsageError, match=setting):
        graphtrain.RunConfig().replace(**{setting: value})


def test_a_path_and_a_round_float_will_do():
    config = graphtrain.RunConfig(model_dir=pathlib.Path("/tmp/run"), save_checkpoints_steps=1e3)
    assert config.model_dir == "/tmp/run"
    assert config.save_checkpoints_steps == 1000


def test_the_session_config_is_a_copy():
    proto = tf1.ConfigProto(intra_op_parallelism_threads=1)
    config = graphtrain.RunConfig(session_config=proto)
    proto.intra_op_parallelism_threads = 2
    config.session_config.intra_op_parallelism_threads = 3
    assert config.session_config.intra_op_parallelism_threads == 1


def test_one_process_without_a_tf_config():
    config = graphtrain.RunConfig()
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 0, True)
    assert (config.num_worker_replicas, config.num_ps_replicas) == (1, 0)
    assert (config.master, config.evaluation_master, config.service) == ("", "", None)
    assert config.cluster_spec.as_dict() == {}
    assert config.global_id_in_cluster == 0
    assert (config.train_distribute, config.eval_distribute, config.protocol) == (None,) * 3
    assert config.experimental_max_worker_delay_secs is None


def test_the_tf_config_is_read_when_it_is_made(monkeypatch):
    cluster = {"chief": ["c:1"], "worker": ["w:1"], "ps": ["p:1"]}
    task = {"type": "worker", "index": 0}
    text = json.dumps({"cluster": cluster, "task": task, "service": {"key": [1]}})
    monkeypatch.setenv("TF_CONFIG", text)
    config = graphtrain.RunConfig()
    monkeypatch.delenv("TF_CONFIG")
    config = config.replace(model_dir="/tmp/run", protocol="grpc")
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 0, False)
    assert (config.num_worker_replicas, config.num_ps_replicas) == (2, 1)
    assert (config.master, config.global_id_in_cluster) == ("grpc://w:1", 1)
    assert config.cluster_spec.as_dict() == cluster
    config.service["key"].append(2)
    assert config.service == {"key": [1]}


def test_a_model_dir_in_the_tf_config(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"model_dir": "/tmp/run"}')
    assert graphtrain.RunConfig().model_dir == "/tmp/run"
    assert graphtrain.RunConfig("/tmp/run").model_dir == "/tmp/run"
    with pytest.raises(graphtrain.UsageError, match="but '/tmp/run' in TF_CONFIG: give it once"):
        graphtrain.RunConfig("/tmp/other")


def test_a_bad_tf_config(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{")
    with pytest.raises(graphtrain.UsageError, match="TF_CONFIG is not valid JSON"):
        graphtrain.RunConfig()


def test_default_session_config():
    assert default_session_config().allow_soft_placement
    assert default_session_config().graph_options.rewrite_options.meta_optimizer_iterations == 1
