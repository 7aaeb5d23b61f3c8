import json
import signal
import sys
import threading
import time

import pytest

import graphtrain
from graphtrain.distribute.local_cluster import LocalProcesses, tf_configs

THREE = {"worker 0": "0", "worker 1": "1", "ps 0": "ps"}


def run(script, configs=THREE, **settings):
    """Runs a shell script as each process; returns the exit code and the lines."""
    lines = []
    processes = LocalProcesses(["sh", "-c", script], configs, write=lines.append, **settings)
    return processes.run(), lines


def test_the_tasks_of_a_cluster():
    configs = {name: json.loads(text) for name, text in tf_configs(workers=2, ps=1).items()}
    assert list(configs) == ["ps 0", "worker 0", "worker 1"]
    cluster = configs["ps 0"]["cluster"]
    assert {job: len(addresses) for job, addresses in cluster.items()} == {"ps": 1, "worker": 2}
    assert all(config["cluster"] == cluster for config in configs.values())
    assert configs["worker 1"]["task"] == {"type": "worker", "index": 1}
    evaluator = json.loads(tf_configs(evaluator=True)["evaluator 0"])
    assert evaluator["task"] == {"type": "evaluator", "index": 0}
    assert list(evaluator["cluster"]) == ["worker"]


@pytest.mark.parametrize("shape", [{"workers": 0}, {"ps": -1}])
def test_shapes_that_make_no_sense(shape):
    with pytest.raises(graphtrain.UsageError, match="cannot be used: give a whole number"):
        tf_configs(**shape)


def test_each_has_its_tf_config_and_its_name_before_its_lines():
    code, lines = run("echo $TF_CONFIG; echo wrong >&2")
    assert code == 0
    wanted = [f"[{name}] {line}" for name, text in THREE.items() for line in (text, "wrong")]
    assert sorted(lines) == sorted(wanted)


def test_when_one_fails_the_others_are_ended():
    began = time.monotonic()
    code, lines = run('[ "$TF_CONFIG" = 1 ] && exit 3; exec sleep 60', grace_secs=5)
    assert code == 3
    assert "[worker 1] ended with exit code 3" in lines
    assert time.monotonic() - began < 5


def test_the_others_may_go_on():
    code, lines = run('[ "$TF_CONFIG" = 1 ] && exit 3; sleep 0.3; echo done', keep_going=True)
    assert code == 3
    assert {"[worker 0] done", "[ps 0] done"} < set(lines)


def test_the_code_of_a_process_that_a_signal_ended():
    assert run("kill -9 $$", {"worker 0": ""})[0] == 137


def test_one_that_does_not_end_is_killed():
    script = "trap '' TERM; [ \"$TF_CONFIG\" = 1 ] && sleep 0.3 && exit 3; sleep 30 & wait; wait"
    began = time.monotonic()
    code, lines = run(script, grace_secs=0.5)
    assert code == 3
    assert "[ps 0] did not end within 0.5 seconds: killed" in lines
    assert time.monotonic() - began < 20


def test_signals_are_passed_on():
    lines = []
    program = "import signal; print('up', flush=True); print(signal.sigwait([15]), flush=True)"
    blocked = f"import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [15]); {program}"
    processes = LocalProcesses(
        [sys.executable, "-c", blocked], THREE, write=lines.append, grace_secs=20
    )
    codes = []
    thread = threading.Thread(target=lambda: codes.append(processes.run()))
    thread.start()
    limit = time.monotonic() + 20
    while sum(line.endswith("up") for line in lines) < 3:
        assert time.monotonic() < limit
        time.sleep(0.05)
    processes.send(signal.SIGTERM)
    thread.join(20)
    assert codes == [0]
    assert sum(line.endswith("SIGTERM") or line.endswith("15") for line in lines) == 3


def test_a_command_that_is_not_there():
    processes = LocalProcesses(["no_such_command"], THREE, write=print)
    with pytest.raises(graphtrain.UsageError, match="'no_such_command' cannot be run: No such"):
        processes.run()
