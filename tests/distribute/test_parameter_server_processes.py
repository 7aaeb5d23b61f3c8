"""Asynchronous training by real processes: see cluster.py and program.py."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import time

import pytest
from cluster import Cluster

from graphtrain.distribute.local_cluster import tf_configs
from graphtrain.session import checkpoints


def step_in(model_dir):
    return checkpoints.global_step_of(checkpoints.newest(str(model_dir)))


def test_all_end_within_ten_seconds_of_the_last_step(tmp_path):
    model_dir = tmp_path / "run"
    with Cluster(tmp_path, workers=2, ps=2) as cluster:
        # The chief decides to stop; the flag of early stopping carries it to the worker.
        cluster.start(model_dir, "--stop_at=40", "--step_secs=0.02")
        cluster.wait_for("worker 0", "early stopping: should_stop_fn said so")
        codes = cluster.exit_codes(within_secs=10)
        chief, worker = cluster.log("worker 0"), cluster.log("worker 1")
    assert set(codes.values()) == {0}
    assert "early stopping: the chief has said so" in worker
    assert "total: 2" in chief and "input pipeline id 1, total: 2" in worker
    assert f"worker 0 is the chief: it alone writes to {model_dir}" in chief
    assert "worker 1 writes no checkpoint" in worker and "saved " not in worker
    # Whoever made the last step, it is saved.
    worker_step = int(worker.rpartition("global_step=")[2].partition(",")[0])
    assert step_in(model_dir) >= worker_step >= 40
    assert len(list(model_dir.glob("events.*"))) == 1


@pytest.mark.slow
def test_each_role_may_be_killed(tmp_path):
    model_dir = tmp_path / "run"
    args = (model_dir, "--save_steps=50", "--step_secs=0.01")
    with Cluster(tmp_path, workers=2, ps=1) as cluster:

        def wait_for_steps(name, count=30):
            known = cluster.log(name).count("step ")
            cluster.wait_for(name, r"step \d+", count=known + count)

        cluster.start(*args)
        cluster.wait_for("worker 0", r"saved .*ckpt-\d+", count=3)
        wait_for_steps("worker 1")
        cluster.signal("worker 1")
        wait_for_steps("worker 0")
        cluster.start(*args, names=["worker 1"])
        cluster.wait_for("worker 1", "joined the training at global step", count=2)
        wait_for_steps("worker 1")

        cluster.signal("worker 0")
        wait_for_steps("worker 1")
        saved = step_in(model_dir)
        cluster.start(*args, names=["worker 0"])
        restored = cluster.wait_for("worker 0", r"restored global step (\d+)")
        # The worker has gone on by the time that the step is read.
        assert int(restored[1]) >= saved > 100
        wait_for_steps("worker 1")

        cluster.signal("ps 0")
        cluster.start(*args, names=["ps 0"])
        lost = "the session was lost .* recovery 1 of at most 10: going on from step"
        cluster.wait_for("worker 0", lost)
        cluster.wait_for("worker 1", lost)
        wait_for_steps("worker 1")
        for name in ("worker 1", "worker 0", "ps 0"):
            cluster.signal(name, signal.SIGTERM)
        codes = cluster.exit_codes(within_secs=30)
    assert codes == {"ps 0": 75, "worker 0": 75, "worker 1": 75}
    assert step_in(model_dir) > saved


def test_an_address_that_does_not_answer_is_named_in_time(tmp_path):
    configs = tf_configs(workers=2, ps=1)
    dead = json.loads(configs["worker 0"])["cluster"]["worker"][1]
    with Cluster(tmp_path, configs) as cluster:
        cluster.start(
            tmp_path / "run",
            "--max_steps=9",
            "--start_timeout_secs=4",
            "--end_timeout_secs=1",
            names=["ps 0", "worker 0"],
        )
        codes = cluster.exit_codes(within_secs=30)
        last = cluster.log("worker 0").splitlines()[-1]
    assert codes["worker 0"] == 1
    assert last.startswith(f"error: No answer from {dead} within 4 seconds")
    # The parameter server does not wait without end for a chief that has given up.
    assert "end_timeout_secs" in cluster.log("ps 0") and codes["ps 0"] == 1


def test_three_files_over_five_workers(tmp_path):
    """The fifth worker has no file, and says so; of workers 1 to 3 only the ports are there."""
    configs = tf_configs(workers=5, ps=1)
    addresses = json.loads(configs["worker 0"])["cluster"]["worker"]
    model_dir = tmp_path / "run"
    with contextlib.ExitStack() as others, Cluster(tmp_path, configs) as cluster:
        for address in addresses[1:4]:
            host, _, port = address.partition(":")
            others.enter_context(socket.create_server((host, int(port))))
        names = ["ps 0", "worker 0", "worker 4"]
        cluster.start(model_dir, "--step_secs=0.02", names=names)
        codes = cluster.exit_codes("worker 4")
        others.close()
        cluster.wait_for("worker 0", r"step \d+", count=20)
        # SIGTERM ends the rest cleanly: the same command goes on.
        for name in names[:2]:
            cluster.signal(name, signal.SIGTERM)
        codes.update(cluster.exit_codes("ps 0", "worker 0", within_secs=20))
        message = cluster.log("worker 4").splitlines()[-1]
    assert codes == {"worker 4": 1, "ps 0": 75, "worker 0": 75}
    assert message.startswith("error: The input ended before the first training step.")
    assert "The empty input is that of worker 4 of 5" in message
    assert step_in(model_dir) >= 20


def test_a_chief_waits_for_a_slow_worker_and_saves_last(tmp_path):
    """Both end with their data, the chief first; it makes several steps in a run."""
    model_dir = tmp_path / "run"
    with Cluster(tmp_path, workers=2, ps=1) as cluster:
        args = (model_dir, "--batches=60", "--save_steps=20")
        cluster.start(*args, names=["ps 0"])
        cluster.start(*args, "--steps_per_run=5", names=["worker 0"])
        cluster.start(*args, "--step_secs=0.05", names=["worker 1"])
        codes = cluster.exit_codes()
        logs = [cluster.log(name) for name in ("worker 0", "worker 1")]
    assert set(codes.values()) == {0}
    assert all("reason='end_of_data'" in log for log in logs)
    # The shards are files 0 and 2, and file 1: sixty batches of each.
    assert step_in(model_dir) == 180


@pytest.mark.slow
def test_sync_replicas_optimizer(tmp_path):
    with Cluster(tmp_path, workers=2, ps=1) as cluster:
        cluster.start(tmp_path / "run", "--max_steps=30", "--sync_replicas=2")
        codes = cluster.exit_codes(within_secs=80)
    assert set(codes.values()) == {0}
    assert step_in(tmp_path / "run") == 30


@pytest.mark.slow
def test_an_evaluator_beside_a_chief_a_worker_and_a_parameter_server(tmp_path):
    model_dir = tmp_path / "run"
    args = (model_dir, "--max_steps=200", "--step_secs=0.03", "--evaluate")
    with Cluster(tmp_path, workers=2, ps=1, evaluator=True) as cluster:
        cluster.start(*args)
        codes = cluster.exit_codes()
        last = step_in(model_dir)
        evaluations = cluster.log("evaluator 0").count("evaluated step")
        assert cluster.wait_for("evaluator 0", r"metrics (\d+) \[b").group(1) == str(last)
        began = time.monotonic()
        cluster.start(*args)
        again = cluster.exit_codes()
        secs = time.monotonic() - began
    assert set(codes.values()) == set(again.values()) == {0}
    assert last >= 200
    assert evaluations >= 3
    assert secs < 40
    assert len(os.listdir(model_dir / "export" / "final")) >= 1
    assert "metrics None None" in cluster.log("worker 0")
    assert pathlib.Path(model_dir, "training_ended.json").exists()
