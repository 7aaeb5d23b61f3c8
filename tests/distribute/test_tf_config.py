import json

import pytest

import graphtrain
from graphtrain.distribute import tf_config

CLUSTER = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1", "p:2"]}


def parse(cluster=None, task=None, **others):
    config = {"cluster": cluster, "task": task, **others}
    return tf_config.parse(json.dumps({k: v for k, v in config.items() if v is not None}))


@pytest.mark.parametrize("text", ["", "  ", "{}", '{"task": {"type": "worker", "index": 0}}'])
def test_one_process(text):
    settings = tf_config.parse(text)
    assert settings.cluster_spec.as_dict() == {}
    assert (settings.task_type, settings.task_id, settings.is_chief) == ("worker", 0, True)
    assert (settings.master, settings.evaluation_master) == ("", "")
    assert (settings.num_ps_replicas, settings.num_worker_replicas) == (0, 1)
    assert settings.global_id_in_cluster == 0
    assert (settings.service, settings.model_dir) == (None, None)


@pytest.mark.parametrize(
    ("task_type", "index", "address", "global_id"),
    [("chief", 0, "c:1", 0), ("worker", 0, "w:1", 1), ("worker", 1, "w:2", 2), ("ps", 1, "p:2", 4)],
)
def test_a_task_of_a_cluster(task_type, index, address, global_id):
    settings = parse(CLUSTER, {"type": task_type, "index": index})
    assert settings.cluster_spec.as_dict() == CLUSTER
    assert (settings.task_type, settings.task_id) == (task_type, index)
    assert settings.is_chief == (task_type == "chief")
    assert settings.master == f"grpc://{address}"
    assert (settings.num_ps_replicas, settings.num_worker_replicas) == (2, 3)
    assert settings.global_id_in_cluster == global_id


@pytest.mark.parametrize("cluster", [CLUSTER, {**CLUSTER, "evaluator": ["e:1"]}])
def test_an_evaluator_is_no_part_of_the_cluster(cluster):
    settings = parse(cluster, {"type": "evaluator", "index": 0})
    assert settings.cluster_spec.as_dict() == {}
    assert (settings.task_type, settings.is_chief, settings.master) == ("evaluator", False, "")
    assert (settings.num_ps_replicas, settings.num_worker_replicas) == (0, 0)
    assert settings.global_id_in_cluster is None
    chief = parse(cluster, {"type": "chief", "index": 0})
    assert chief.cluster_spec.as_dict() == CLUSTER


def test_a_master_is_a_chief():
    settings = parse({"master": ["m:1"], "worker": ["w:1"]}, {"type": "master", "index": 0})
    assert (settings.is_chief, settings.num_worker_replicas) == (True, 2)


def test_without_a_chief_worker_0_is_it():
    cluster = {"worker": ["w:1", "w:2"]}
    chiefs = [parse(cluster, {"type": "worker", "index": i}).is_chief for i in (0, 1)]
    assert chiefs == [True, False]


def test_a_cluster_of_one_is_local():
    settings = parse({"chief": ["c:1"]}, {"type": "chief", "index": 0})
    assert (settings.master, settings.num_worker_replicas) == ("", 1)


def test_a_sparse_cluster():
    settings = parse({"chief": ["c:1"], "worker": {"3": "w:3"}}, {"type": "worker", "index": 3})
    assert (settings.master, settings.global_id_in_cluster) == ("grpc://w:3", 1)


def test_a_task_index_may_be_a_string():
    assert parse(CLUSTER, {"type": "worker", "index": "1"}).task_id == 1


def test_what_the_platform_adds():
    settings = parse(
        CLUSTER,
        {"type": "chief", "index": 0},
        session_master="grpc://other:1",
        eval_session_master="grpc://eval:1",
        service={"key": 1},
        model_dir="/tmp/run",
    )
    assert settings.master == "grpc://other:1"
    assert settings.evaluation_master == "grpc://eval:1"
    assert (settings.service, settings.model_dir) == ({"key": 1}, "/tmp/run")
    assert parse(session_master="grpc://other:1").master == "grpc://other:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{'task': 1}", r"TF_CONFIG is not valid JSON \(.*\): \"{'task': 1}\""),
        ("[1]", r"TF_CONFIG must be a JSON object, got \[1\]"),
        ('{"task": 1}', '"task" of TF_CONFIG must be a JSON object, got 1'),
        ('{"cluster": ["a:1"]}', '"cluster" of TF_CONFIG must be a JSON object'),
        ('{"service": 1}', '"service" of TF_CONFIG must be a JSON object, got 1'),
        ('{"model_dir": ""}', '"model_dir" of TF_CONFIG must name a directory'),
        ('{"task": {"type": "ps"}}', "no \"cluster\", so the task must be worker 0, got 'ps' 0"),
        ('{"cluster": {"chief": ["a:1"]}}', '"task" must have a "type"'),
        ('{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief"}}', '"index" .* got None'),
        (
            '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": -1}}',
            "must be a number >= 0, got -1",
        ),
        (
            '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 7}}',
            r"'chief' 7, is not in its cluster, which has \{'chief': \[0\]\}",
        ),
        (
            '{"cluster": {"workers": ["a:1"]}, "task": {"type": "worker", "index": 0}}',
            r"'worker' 0, is not in its cluster, which has \{'workers': \[0\]\}",
        ),
        (
            '{"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 0}}',
            'must have one "chief", or at least a "worker"',
        ),
        (
            '{"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}}',
            'must have one "chief"',
        ),
        (
            '{"cluster": {"chief": "a:1"}, "task": {"type": "chief", "index": 0}}',
            "must map each job to a list of addresses",
        ),
        ('{"cluster": {}, "task": {"type": "chief", "index": 0}}', "is not in its cluster"),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(graphtrain.UsageError, match=message):
        tf_config.parse(text)
