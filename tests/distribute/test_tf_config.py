import json
import re

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


def test_an_evaluator_needs_no_cluster():
    for text in (
        '{"task": {"type": "evaluator"}}',
        '{"cluster": {}, "task": {"type": "evaluator"}}',
    ):
        assert tf_config.parse(text).task_type == "evaluator"


def test_the_addresses_of_the_workers_are_in_order():
    settings = parse(CLUSTER, {"type": "ps", "index": 0})
    assert settings.worker_addresses == ("c:1", "w:1", "w:2")
    sparse = parse({"worker": {"3": "w:3", "1": "w:1"}}, {"type": "worker", "index": 3})
    assert (sparse.worker_addresses, sparse.global_id_in_cluster) == (("w:1", "w:3"), 1)


def test_that_worker_0_is_the_chief_is_logged(caplog):
    with caplog.at_level("INFO", logger="tensorflow"):
        parse({"worker": ["w:1", "w:2"]}, {"type": "worker", "index": 1})
    assert "the cluster has no chief: worker 0 is the chief" in caplog.text


TWO = {"worker": ["a:1", "b:1"]}


@pytest.mark.parametrize(
    ("cluster", "task", "message"),
    [
        (
            {"workers": ["a:1"]},
            ("worker", 0),
            '"workers" in "cluster" of TF_CONFIG is no job: did you mean "worker"? Jobs are "chief"'
            ' (or "master"), "worker", "ps" and "evaluator".',
        ),
        ({"gpu": ["a:1"]}, ("gpu", 0), '"gpu" in "cluster" of TF_CONFIG is no job: Jobs are'),
        (
            TWO,
            ("worker", 7),
            '"index" in "task" of TF_CONFIG is 7, but "worker" has 2 tasks: give 0 or 1.',
        ),
        (TWO, ("worker", -1), "is -1, but"),
        (TWO, ("worker", "first"), "is 'first', but"),
        (
            {"worker": [f"w:{port}" for port in range(1, 9)]},
            ("worker", 8),
            "has 8 tasks: give 0 to 7.",
        ),
        ({"worker": {"1": "a:1"}}, ("worker", 0), '"worker" has 1 task: give 1.'),
        (
            TWO,
            ("worker", None),
            '"index" in "task" of TF_CONFIG is missing: say which worker this process is, 0 or 1.',
        ),
        (
            TWO,
            (None, 0),
            '"type" in "task" of TF_CONFIG is missing, but the cluster has "worker": Give one',
        ),
        (
            TWO,
            ("workers", 0),
            '"type" in "task" of TF_CONFIG is \'workers\', but the cluster has "worker": '
            'did you mean "worker"?',
        ),
        (TWO, ("ps", 0), "is 'ps', but the cluster has \"worker\""),
        (
            {"worker": ["a:1", "b:1"], "ps": ["a:1"]},
            ("worker", 0),
            'The address "a:1" is given twice, to worker 0 and to ps 0',
        ),
        (
            {"worker": ["a:1", "10.0.0.1"]},
            ("worker", 0),
            '"worker" in "cluster" of TF_CONFIG has the address \'10.0.0.1\', which must be '
            '"host:port" with a port from 1 to 65535',
        ),
        ({"worker": ["a:0"]}, ("worker", 0), "the address 'a:0'"),
        ({"worker": ["a:99999"]}, ("worker", 0), "the address 'a:99999'"),
        ({"worker": ["grpc://a:1"]}, ("worker", 0), "the address 'grpc://a:1'"),
        ({"worker": [1]}, ("worker", 0), "the address 1"),
        ({"worker": "a:1"}, ("worker", 0), "must be a list of addresses"),
        ({"worker": []}, ("worker", 0), '"worker" in "cluster" of TF_CONFIG has no address'),
        ({"worker": {"one": "a:1"}}, ("worker", 0), "has the task 'one', whose number must be"),
        ({"ps": ["a:1"]}, ("ps", 0), 'must have one "chief", or at least a "worker"'),
        (
            {"chief": ["a:1", "b:1"]},
            ("chief", 0),
            '"chief" in "cluster" of TF_CONFIG has 2 addresses, a:1, b:1: there is one',
        ),
        ({"chief": ["a:1"], "master": ["b:1"]}, ("chief", 0), 'a "chief" and a "master"'),
        ({}, ("chief", 0), '"cluster" of TF_CONFIG is empty'),
        ({**TWO, "evaluator": ["e:1", "e:2"]}, ("evaluator", 1), "there can be one evaluator only"),
    ],
)
def test_mistakes_in_a_cluster(cluster, task, message):
    named = dict(zip(("type", "index"), task, strict=True))
    named = {key: value for key, value in named.items() if value is not None}
    with pytest.raises(graphtrain.UsageError, match=re.escape(message)):
        parse(cluster, named)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{'task': 1}", "TF_CONFIG is not valid JSON (Expecting property name"),
        ("{'task': 1}", 'JSON has double quotes ("), not single ones.'),
        ("'{}'", "Leave out the quotes around it."),
        ('{"cluster": ', "TF_CONFIG is not valid JSON (Expecting value"),
        ('"{}"', "TF_CONFIG must be a JSON object, got '{}'. It is in quotes: leave them out."),
        ("[1]", "TF_CONFIG must be a JSON object, got [1]."),
        ('{"clusters": {}}', '"clusters" in TF_CONFIG is not known: did you mean "cluster"?'),
        ('{"task": 1}', '"task" of TF_CONFIG must be a JSON object, got 1'),
        ('{"cluster": ["a:1"]}', '"cluster" of TF_CONFIG must be a JSON object'),
        ('{"model_dir": 5}', '"model_dir" of TF_CONFIG must name a directory, got 5.'),
        ('{"service": 1}', '"service" of TF_CONFIG must be a JSON object, got 1'),
        ('{"model_dir": ""}', '"model_dir" of TF_CONFIG must name a directory'),
        ('{"task": {"type": "ps"}}', "no \"cluster\", so the task must be worker 0, got 'ps' 0"),
    ],
)
def test_mistakes_in_the_text(text, message):
    with pytest.raises(graphtrain.UsageError, match=re.escape(message)):
        tf_config.parse(text)
