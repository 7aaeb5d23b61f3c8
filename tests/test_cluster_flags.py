import pytest
from absl import flags as absl_flags

import graphtrain
from graphtrain import app, flags


def parse(*args):
    values = absl_flags.FlagValues()
    flags.define_cluster_flags(values)
    flags.define_cluster_flags(values)
    return app.parse(["train.py", *args], values)


@pytest.fixture(autouse=True)
def no_tf_config(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)


def test_no_flag_means_one_process_or_tf_config(monkeypatch):
    assert flags.cluster_from_flags(parse()).num_worker_replicas == 1
    cluster = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    monkeypatch.setenv("TF_CONFIG", cluster)
    assert flags.cluster_from_flags(parse()).master == "grpc://b:1"


def test_the_flags_name_a_cluster():
    values = parse(
        "--worker_hosts=a:1, b:1",
        "--ps_hosts=c:1",
        "--chief_hosts=d:1",
        "--job_name=ps",
        "--task_index=0",
    )
    settings = flags.cluster_from_flags(values)
    jobs = {"worker": ["a:1", "b:1"], "ps": ["c:1"], "chief": ["d:1"]}
    assert settings.cluster_spec.as_dict() == jobs
    assert (settings.task_type, settings.master, settings.is_chief) == ("ps", "grpc://c:1", False)


def test_an_evaluator_needs_no_addresses():
    assert flags.cluster_from_flags(parse("--job_name=evaluator")).task_type == "evaluator"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--task_index=1"], "--task_index is of no use without the addresses"),
        (["--worker_hosts=a:1"], '--job_name is missing, but the cluster has "worker"'),
        (["--worker_hosts=a:1", "--job_name=worker"], "--task_index is missing: say which worker"),
        (
            ["--worker_hosts=a:1,b:1", "--job_name=worker", "--task_index=7"],
            '--task_index is 7, but "worker" has 2 tasks: give 0 or 1',
        ),
        (
            ["--worker_hosts=a:1,b", "--job_name=worker", "--task_index=0"],
            "--worker_hosts has the address 'b', which must be",
        ),
        (
            ["--worker_hosts=a:1,", "--job_name=worker", "--task_index=0"],
            "--worker_hosts has the address ''",
        ),
        (
            ["--worker_hosts=a:1", "--ps_hosts=a:1", "--job_name=worker", "--task_index=0"],
            'The address "a:1" is given twice, to worker 0 and to ps 0',
        ),
        (["--ps_hosts=a:1", "--job_name=ps", "--task_index=0"], 'must have one "chief"'),
    ],
)
def test_mistakes(args, message):
    values = parse(*args)
    with pytest.raises(graphtrain.UsageError, match=message):
        flags.cluster_from_flags(values)


def test_flags_and_tf_config_exclude_each_other(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{}")
    with pytest.raises(graphtrain.UsageError, match="--job_name and the environment variable"):
        flags.cluster_from_flags(parse("--job_name=worker"))


def test_a_run_config_takes_all_of_them():
    values = absl_flags.FlagValues()
    flags.define_run_flags(values)
    flags.define_cluster_flags(values)
    cluster = ["--worker_hosts=a:1,b:1", "--ps_hosts=c:1", "--job_name=worker", "--task_index=1"]
    limits = ["--start_timeout_secs=7", "--end_timeout_secs=8", "--stall_timeout_secs=9"]
    argv = ["train.py", *cluster, *limits, "--distribution=parameter_server"]
    config = flags.run_config_from_flags(app.parse(argv, values), steps_per_epoch=10)
    assert (config.task_id, config.distribution) == (1, "parameter_server")
    assert (config.start_timeout_secs, config.end_timeout_secs) == (7, 8)
    assert config.stall_timeout_secs == 9
