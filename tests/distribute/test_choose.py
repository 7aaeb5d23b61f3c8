import json

import pytest

import graphtrain
from graphtrain.distribute import choose, tf_config

ALONE = {"chief": ["c:1"]}
WITH_PS = {"chief": ["c:1"], "ps": ["p:1"]}
WORKERS = {"chief": ["c:1"], "worker": ["w:1"]}


def settings(cluster, task=("chief", 0)):
    return tf_config.parse(
        json.dumps({"cluster": cluster, "task": {"type": task[0], "index": task[1]}})
    )


@pytest.mark.parametrize(
    ("cluster", "wanted", "distribution"),
    [
        (ALONE, None, None),
        (ALONE, "all_reduce", None),
        (WITH_PS, None, "parameter_server"),
        (WITH_PS, "parameter_server", "parameter_server"),
        (WORKERS, None, "all_reduce"),
        (WORKERS, "all_reduce", "all_reduce"),
    ],
)
def test_the_cluster_says_how_to_train(cluster, wanted, distribution):
    config = graphtrain.RunConfig(cluster=settings(cluster), distribution=wanted)
    assert config.distribution == distribution
    assert config.replace(model_dir="run").distribution == distribution


def test_one_process_and_an_evaluator_have_none():
    assert graphtrain.RunConfig().distribution is None
    evaluator = graphtrain.RunConfig(cluster=settings(WITH_PS, ("evaluator", 0)))
    assert (evaluator.distribution, evaluator.has_evaluator) == (None, True)
    with pytest.raises(graphtrain.UsageError, match="An evaluator trains nothing"):
        choose.mode_of(evaluator)


@pytest.mark.parametrize(
    ("cluster", "wanted", "message"),
    [
        (WORKERS, "parameter_server", "needs parameter servers, but the cluster has no ps tasks"),
        (WITH_PS, "all_reduce", "no use for parameter servers, but the cluster has 1 ps tasks"),
        (ALONE, "mirrored", "distribution='mirrored' cannot be used: choose one of"),
    ],
)
def test_what_a_cluster_cannot_have(cluster, wanted, message):
    with pytest.raises(graphtrain.UsageError, match=message):
        graphtrain.RunConfig(cluster=settings(cluster), distribution=wanted)


def test_settings_that_make_no_sense():
    with pytest.raises(graphtrain.UsageError, match="cluster must be a ClusterSettings"):
        graphtrain.RunConfig(cluster={"chief": ["c:1"]})
    with pytest.raises(graphtrain.UsageError, match="start_timeout_secs=-1"):
        graphtrain.RunConfig(start_timeout_secs=-1)
