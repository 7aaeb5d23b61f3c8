"""Each case of the benchmark, at its smallest, and the arithmetic of its figures."""

import csv
import importlib
import itertools

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain import datasets
from graphtrain.errors import UsageError

tf1 = tf.compat.v1
DATA = ["mnist", "fashion_mnist"]


@pytest.fixture
def benchmarks(scripts):
    """A function that imports a module of scripts/benchmarks."""
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.fixture
def data_dir(tmp_path):
    """A folder of both data sets, 64 images of the sample in each."""
    sample = datasets.load("sample")
    for name in DATA:
        np.savez(
            tmp_path / f"{name}.npz",
            x_train=sample.train_images[:64],
            y_train=sample.train_labels[:64],
            x_test=sample.test_images[:20],
            y_test=sample.test_labels[:20],
        )
    return tmp_path


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Clock:
    """A clock that goes only when told to."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


def test_functions_are_timed_in_turn_there_and_back(benchmarks):
    clock, called = Clock(), []

    def run(name, seconds):
        called.append(name)
        clock.seconds += seconds

    timing = benchmarks("timing")
    runs = {"short": lambda: run("short", 0.25), "long": lambda: run("long", 0.5)}
    seconds = timing.paired(runs, repeats=3, clock=clock)
    assert {name: values.tolist() for name, values in seconds.items()} == {
        "short": [0.25] * 3,
        "long": [0.5] * 3,
    }
    warm_up = 2 * timing.WARM_UP_CALLS
    assert called[warm_up:] == ["short", "long", "long", "short", "short", "long"]


def test_a_ratio_is_the_median_of_the_ratios_of_each_turn(benchmarks, capsys, tmp_path):
    report = benchmarks("report")
    seconds = {"ours": np.array([0.003, 0.012, 0.008]), "sgd": np.array([0.002, 0.006, 0.005])}
    figures = [
        report.milliseconds("step", seconds, lambda times: times["ours"]),
        report.ratio("dearer", seconds, lambda t: t["ours"] / t["sgd"], at_most=1.5),
        report.ratio("faster", seconds, lambda t: t["ours"] / t["sgd"], at_least=1.5),
    ]
    report.print_table(figures)
    assert capsys.readouterr().out.splitlines() == [
        "measure  unit   median  quiet  target  reached",
        "step     ms      8.000  3.000",
        "dearer   ratio   1.600  1.500  <= 1.5       no",
        "faster   ratio   1.600  1.500  >= 1.5      yes",
    ]
    report.write_csv(figures, tmp_path / "figures.csv")
    assert (tmp_path / "figures.csv").read_text() == (
        "measure,unit,median,quiet,target,reached\n"
        "step,ms,8.000,3.000,,\n"
        "dearer,ratio,1.600,1.500,<= 1.5,no\n"
        "faster,ratio,1.600,1.500,>= 1.5,yes\n"
    )


def test_step(scripts, tmp_path, capsys):
    path = tmp_path / "step.csv"
    scripts.main("benchmark", "--case=step", "--batch_size=4", "--repeats=1", f"--csv={path}")
    rows = rows_of(path)
    assert [(row["unit"], row["target"]) for row in rows] == [
        *[("ms", "")] * 4,
        ("ratio", "<= 1.5"),
        ("ratio", "<= 1.3"),
    ]
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(rows)


@pytest.mark.slow
def test_line_search(benchmarks):
    # The case itself makes sure that each contender makes the number of trials it is timed for.
    figures = benchmarks("line_search").measure(
        batch_size=4, repeats=1, trials=(1, 2), hidden_units=50
    )
    targets = {figure.measure: (figure.at_most, figure.at_least) for figure in figures}
    assert {name: target for name, target in targets.items() if target != (None, None)} == {
        "ours, 1 trial / sgd": (1.4, None),
        "further trial of ours / forward": (1.15, None),
        "ours, 10 steps, 1 searched / sgd, 10 steps": (1.06, None),
        "article's search / ours, 1 trial": (None, 1.5),
        "article's step / ours, 1 trial": (None, 1.5),
        "session search / ours, 1 trial": (None, 1.0),
        "session search / ours, 2 trials": (None, 1.0),
        "memory of ours beyond sgd, 1 trial": (2, None),
        "memory of ours beyond sgd, 3 trials": (2, None),
    }
    assert all(figure.median > 0 for figure in figures if figure.unit == "ms")


def test_a_contender_with_other_trials_than_it_is_timed_for_is_an_error(benchmarks):
    contender = benchmarks("contender")
    rival = contender.Contender(run=lambda: None, trials=lambda: 4)
    contender.check_trials({("rival", 4): rival})
    with pytest.raises(RuntimeError, match="rival made 4 trials instead of 5"):
        contender.check_trials({("rival", 5): rival})


def test_learning_goes_on_where_it_stopped(scripts, data_dir, capsys):
    path = data_dir / "learning.csv"
    args = ["--case=learning", f"--data_dir={data_dir}", f"--csv={path}", "--budget_secs=0.02"]
    args += ["--batch_size=8", "--cnn_images=32", "--quick"]
    scripts.main("benchmark", *args, "--policy=article")
    rows = rows_of(path)
    assert [(row["data"], row["model"], row["images"]) for row in rows] == [
        (data, model, images) for data in DATA for model, images in (("mlp", "64"), ("cnn", "32"))
    ]
    for row in rows:
        assert (row["policy"], row["rate"], row["seed"]) == ("article", "", "0")
        assert int(row["steps"]) > 0
        assert 0 < float(row["train_loss"]) < 10
        assert 0 <= float(row["test_accuracy"]) <= 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[3].startswith("4/4 fashion_mnist cnn article, seed 0: ")

    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    scripts.main("benchmark", *args, "--policy=article")
    assert rows_of(path)[:3] == rows[:3]
    assert capsys.readouterr().out.splitlines()[0].startswith("1/1 fashion_mnist cnn article")


def trained(benchmarks, optimizer, seed=0):
    """An MLP on the sample, by a clock that is read once a step and goes on by a second then."""
    clock = itertools.count().__next__
    training = benchmarks("training").Training("mlp", datasets.load("sample"), 32, 9.5, clock)
    return training.run(lambda steps_per_epoch: optimizer, seed)


def test_training_ends_with_its_budget_and_is_fixed_by_its_seed(benchmarks):
    first, again, other = (
        trained(benchmarks, tf1.train.GradientDescentOptimizer(0.1), seed) for seed in (0, 0, 1)
    )
    assert first.steps == 9
    assert first == pytest.approx(again)
    assert first != pytest.approx(other)


def test_a_search_from_a_loss_that_is_not_finite_ends_the_training(benchmarks):
    result = trained(
        benchmarks,
        graphtrain.LineSearchOptimizer(
            tf1.train.GradientDescentOptimizer(1e30), on_failure="keep_last"
        ),
    )
    assert result.steps < 9
    assert not np.isfinite(result.train_loss)


def test_every_policy_makes_an_optimizer(benchmarks):
    policies = benchmarks("policies")
    entries = policies.entries(policies.POLICIES, every_rate=True)
    assert len(entries) == 18 + len(policies.UNTUNED)
    assert len(policies.entries(["adam", "article"], every_rate=False)) == 4
    for entry in {entry.policy: entry for entry in entries}.values():
        with tf.Graph().as_default(), tf1.Session() as session:
            weight = tf1.get_variable("weight", initializer=2.0)
            train_op = entry.make(10).minimize(weight**2)
            session.run(tf1.global_variables_initializer())
            session.run(train_op)
            assert session.run(weight) != 2.0, entry.policy


def made_up_results(results):
    """Two seeds of two tuned rates, one of them diverged, and of a search."""

    def result(policy, rate, seed, loss, accuracy):
        return results.Result(
            "mnist", "mlp", 64, 8, 10.0, "wall", policy, rate, seed, 5, loss, accuracy
        )

    return [
        result("sgd", 0.1, 0, 0.25, 0.75),
        result("sgd", 0.1, 1, 0.75, 0.25),
        result("sgd", 1.0, 0, np.nan, 0.125),
        result("sgd", 1.0, 1, np.nan, 0.125),
        result("article", "", 0, 0.5, 0.5),
    ]


def test_the_best_rate_is_never_one_that_diverged(benchmarks):
    results = benchmarks("results")
    tuned = made_up_results(results)[:4]
    assert results.best(tuned, "train_loss", min) == results.Best(0.1, 0.5, 0.25)
    assert results.best(tuned, "test_accuracy", max) == results.Best(0.1, 0.5, 0.25)
    assert results.best(tuned[2:], "train_loss", min).rate == 1.0


def test_results_survive_their_file(benchmarks, tmp_path):
    results = benchmarks("results")
    written = made_up_results(results)
    assert results.read(tmp_path / "learning.csv") == []
    (tmp_path / "learning.csv").touch()
    assert results.read(tmp_path / "learning.csv") == []
    for result in written:
        results.append(tmp_path / "learning.csv", result)
    read = results.read(tmp_path / "learning.csv")
    assert [str(result) for result in read] == [str(result) for result in written]


def test_the_picture(benchmarks, tmp_path):
    path = tmp_path / "learning.png"
    benchmarks("picture").draw(made_up_results(benchmarks("results")), path)
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Flag --case must have a value other than None"),
        (["--case=speed"], "value should be one of <step|line_search|"),
        (["--case=step", "--repeats=0"], "repeats"),
        (["--case=step", "--csv=none/step.csv"], "csv='none/step.csv' cannot be written"),
        (["--case=learning"], "give --csv=PATH"),
        (["--case=learning", "--csv=new.csv", "--policy=luck"], "policy"),
        (["--case=learning", "--csv=new.csv", "--data_dir=none"], "none has neither mnist.npz"),
        (["--case=learning", "--csv=new.csv", "--data_dir=.", "--batch_size=65"], "batch_size=65"),
        (["--case=learning", "--csv=other.csv", "--data_dir=."], "other.csv holds no results"),
        (["--case=learning", "--csv=torn.csv", "--data_dir=."], "torn.csv holds no results"),
    ],
    ids=str,
)
def test_a_bad_flag_is_one_clear_error(scripts, benchmarks, data_dir, monkeypatch, args, message):
    monkeypatch.chdir(data_dir)
    header = ",".join(benchmarks("results").Result._fields)
    (data_dir / "other.csv").write_text("a,b\n1,2\n")
    (data_dir / "torn.csv").write_text(f"{header}\nmnist,mlp,64\n")
    with pytest.raises(UsageError) as caught:
        scripts.main("benchmark", *args)
    assert message in str(caught.value)
    assert not (data_dir / "new.csv").exists()
