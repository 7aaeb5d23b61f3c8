"""Workers that train in step, as real processes with real servers."""

import json
import os
import pathlib
import signal

import numpy as np
import pytest
from cluster import Cluster

PROGRAM = pathlib.Path(__file__).parent / "step_program.py"
SEARCH = [
    {"optimizer": "sgd", "way": "search", "max_steps": 100},
    {"optimizer": "adam", "way": "search", "max_steps": 40},
]
ALIKE = [
    *SEARCH,
    {"optimizer": "sgd", "max_steps": 100},
    {"optimizer": "momentum", "way": "clipped", "max_steps": 20},
    {"optimizer": "adam", "way": "gradients", "max_steps": 20},
    {"max_steps": 20, "on_not_finite": "skip_step", "nan_at": 12},
    {"max_steps": 20, "on_not_finite": "roll_back", "nan_at": 12, "save_steps": 5},
    {"optimizer": "sgd", "max_steps": 20, "own_graph": True},
]
pytestmark = pytest.mark.slow


def start(cluster, model_dir, scenarios, **kwargs):
    cluster.start(model_dir, json.dumps(scenarios), program=PROGRAM, **kwargs)


def told(cluster, name):
    """What a process has told: a list of dicts, one for each training."""
    facts, found = {}, []
    for line in cluster.log(name).splitlines():
        if line.startswith("TOLD "):
            facts |= json.loads(line.removeprefix("TOLD "))
            if "step" in facts:
                found.append(facts)
                facts = {}
    return found


def trained(directory, scenarios, *, workers):
    """What each worker of a finished training has told."""
    with Cluster(directory / "logs", workers=workers) as cluster:
        start(cluster, directory / "runs", scenarios)
        codes = cluster.exit_codes(within_secs=180)
        assert set(codes.values()) == {0}, codes
        return [told(cluster, name) for name in cluster.configs]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("alone"), ALIKE, workers=1)[0]


@pytest.mark.parametrize("workers, scenarios", [(2, ALIKE), (4, SEARCH)])
def test_workers_make_the_steps_of_one_process(workers, scenarios, alone, tmp_path):
    batch_norm = {"optimizer": "adam", "batch_norm": True, "max_steps": 20}
    found = trained(tmp_path, [*scenarios, batch_norm], workers=workers)
    for number, scenario in enumerate([*scenarios, batch_norm]):
        assert len({facts[number]["bits"] for facts in found}) == 1
        assert {facts[number]["step"] for facts in found} == {scenario["max_steps"]}
        assert len({facts[number].get("loss") for facts in found}) == 1
    if scenarios == ALIKE:
        assert [facts[-2]["stop_reason"] for facts in found] == [
            "that was enough",
            "another worker stopped",
        ]
    for number in range(len(scenarios)):
        for name, weights in found[0][number]["weights"].items():
            np.testing.assert_allclose(weights, alone[number]["weights"][name], rtol=0, atol=1e-9)
    for number in range(len(SEARCH)):
        trials = alone[number]["trials"]
        assert all(facts[number]["trials"] == trials for facts in found)
        assert max(trials) > 1
    assert sorted(os.listdir(tmp_path / "runs" / "0" / "workers")) == [
        f"{index}_of_{workers}" for index in range(1, workers)
    ]


def test_workers_stop_together_when_one_has_no_batch_left(tmp_path):
    scenarios = [{"batches": [40, 60]}, {"batches": [9, 0]}]
    with Cluster(tmp_path / "logs", workers=2) as cluster:
        start(cluster, tmp_path / "runs", scenarios)
        codes = cluster.exit_codes(within_secs=120)
        first, second = (told(cluster, name) for name in cluster.configs)
        assert [facts[0]["step"] for facts in (first, second)] == [40, 40]
        assert [facts[0]["reason"] for facts in (first, second)] == ["end_of_data"] * 2
        assert first[0]["bits"] == second[0]["bits"]
        assert "20 batches of worker 1 were not used" in cluster.log("worker 1")
        # The second scenario is a mistake of the user's, which ends the process.
        assert set(codes.values()) == {1}
        assert "The empty input is that of worker 1 of 2: if each" in cluster.log("worker 1")
        assert "The empty input is that of another worker" in cluster.log("worker 0")
        assert len(first) == 1


def test_a_killed_training_goes_on_exactly(tmp_path):
    """Each worker is killed once, and asked to end once; what they end with is as unbroken."""
    scenario = {"optimizer": "adam", "way": "search", "max_steps": 80, "save_steps": 10}
    (unbroken, _) = trained(tmp_path / "unbroken", [scenario], workers=2)
    slow = [{**scenario, "step_secs": 0.02}]
    with Cluster(tmp_path / "logs", workers=2) as cluster:
        runs = tmp_path / "runs"
        for life, (victim, other, step) in enumerate(
            [("worker 1", "worker 0", 25), ("worker 0", "worker 1", 45)], start=1
        ):
            start(cluster, runs, slow)
            cluster.wait_for(victim, rf"(?m)^step {step}$")
            cluster.signal(victim, signal.SIGKILL)
            assert cluster.exit_codes(other, within_secs=30) == {other: 76}
            message = f"cannot make a step: {victim} at 127.0.0.1:"
            assert cluster.log(other).count(message) == 1
            assert cluster.log(other).count("Traceback") == 0
            assert life == 1 or "restored global step 20 " in cluster.log("worker 0")
        start(cluster, runs, slow)
        cluster.wait_for("worker 1", r"(?m)^step 65$")
        cluster.signal("worker 1", signal.SIGTERM)
        codes = cluster.exit_codes(within_secs=30)
        assert codes == {"worker 0": 75, "worker 1": 75}
        stopped = [told(cluster, name)[-1] for name in cluster.configs]
        assert stopped[0]["step"] == stopped[1]["step"] >= 65
        assert stopped[0]["stop_reason"] == "a signal to another worker"
        start(cluster, runs, slow)
        assert set(cluster.exit_codes(within_secs=60).values()) == {0}
        ended = [told(cluster, name)[-1] for name in cluster.configs]
        assert ended[0]["bits"] == ended[1]["bits"] == unbroken[0]["bits"]


def test_a_worker_that_never_comes_is_named(tmp_path):
    with Cluster(tmp_path / "logs", workers=2) as cluster:
        start(cluster, tmp_path / "runs", [{"start_timeout_secs": 2}], names=["worker 1"])
        assert cluster.exit_codes(within_secs=60) == {"worker 1": 1}
        missing = json.loads(cluster.configs["worker 1"])["cluster"]["worker"][0]
        assert f"No answer from {missing} within 2 seconds" in cluster.log("worker 1")
