import pytest
import tiny_curve

from graphtrain import UsageError
from graphtrain.estimator import experimental

EVERY_STEP = {"run_every_secs": None, "run_every_steps": 1}


def ended(tmp_path, make_hook, values, *arguments, metric="score", **settings):
    """How a training ended whose metric is values[0] at step 0, values[1] at step 10, ..."""
    estimator = tiny_curve.estimator(tmp_path, values, save_checkpoints_steps=10)
    hook = make_hook(estimator, metric, *arguments, **EVERY_STEP, **settings)
    result = tiny_curve.train_and_evaluate(estimator, [hook], max_steps=10 * len(values) - 10)
    return result.global_step, result.stop_reason


def test_the_metric_worsens_after_the_third_evaluation(tmp_path):
    values = [0.0, 5.0, 4.0, 3.0, 3.5, 4.0, 4.5, 5.0]
    step, reason = ended(tmp_path, experimental.stop_if_no_decrease_hook, values, 20, metric="loss")
    assert step == 50
    assert reason == "no decrease of loss for 20 steps, up to step 50: the best is 3 at step 30"


def test_no_increase(tmp_path):
    values = [0.0, 0.1, 0.3, 0.3, 0.2, 0.5, 0.6]
    step, reason = ended(tmp_path, experimental.stop_if_no_increase_hook, values, 20)
    assert (step, reason[:31]) == (40, "no increase of score for 20 ste")


def test_it_goes_on_while_the_metric_improves(tmp_path):
    values = [0.0, 0.1, 0.05, 0.2, 0.15, 0.3]
    assert ended(tmp_path, experimental.stop_if_no_increase_hook, values, 20) == (50, None)


def test_thresholds(tmp_path):
    values = [0.0, 0.25, 0.5, 0.75, 1.0]
    assert ended(tmp_path / "higher", experimental.stop_if_higher_hook, values, 0.5) == (
        30,
        "score = 0.75 at step 30 is higher than 0.5",
    )
    assert ended(tmp_path / "lower", experimental.stop_if_lower_hook, values[::-1], 0.5) == (
        30,
        "score = 0.25 at step 30 is lower than 0.5",
    )


def test_evaluations_before_min_steps_do_not_count(tmp_path):
    values = [0.0, 9.0, 0.1, 0.2, 0.3, 0.4, 9.0]
    assert ended(tmp_path, experimental.stop_if_higher_hook, values, 1, min_steps=11)[0] == 60


def test_the_evaluations_of_another_directory(tmp_path):
    values = [0.0, 1.0, 2.0, 3.0]
    estimator = tiny_curve.estimator(tmp_path / "run", values, save_checkpoints_steps=10)
    hook = experimental.stop_if_higher_hook(
        estimator, "score", 0.5, eval_dir=str(tmp_path / "elsewhere"), **EVERY_STEP
    )
    assert tiny_curve.train_and_evaluate(estimator, [hook], max_steps=30).global_step == 30


def test_evaluations_count_across_restarts(tmp_path):
    values = [0.0, 5.0, 3.0, 4.0, 4.5, 5.0]
    estimator = tiny_curve.estimator(tmp_path, values, save_checkpoints_steps=10)
    steps = []
    for _ in range(2):
        hook = experimental.stop_if_no_decrease_hook(estimator, "score", 20, **EVERY_STEP)
        steps.append(tiny_curve.train_and_evaluate(estimator, [hook]).global_step)
    assert steps == [40, 40]


def test_two_hooks_at_once(tmp_path):
    values = [0.0, 0.25, 0.5, 0.75, 1.0]
    estimator = tiny_curve.estimator(tmp_path, values, save_checkpoints_steps=10)
    hooks = [
        experimental.stop_if_higher_hook(estimator, "score", 0.5, **EVERY_STEP),
        experimental.stop_if_lower_hook(estimator, "loss", -1, **EVERY_STEP),
    ]
    assert tiny_curve.train_and_evaluate(estimator, hooks).global_step == 30


def test_a_metric_that_there_is_not(tmp_path):
    with pytest.raises(UsageError, match="metric_name='auc' .* step 10 has loss, score"):
        ended(tmp_path, experimental.stop_if_higher_hook, [0.0, 1.0, 2.0], 1, metric="auc")


@pytest.mark.parametrize(
    ("make_hook", "argument", "message"),
    [
        (experimental.stop_if_higher_hook, "0.5", "threshold='0.5'"),
        (experimental.stop_if_lower_hook, float("nan"), "threshold=nan"),
        (experimental.stop_if_no_increase_hook, 0, "max_steps_without_increase=0"),
        (experimental.stop_if_no_decrease_hook, -5, "max_steps_without_decrease=-5"),
    ],
)
def test_bad_numbers(make_hook, argument, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        make_hook(tiny_curve.estimator(tmp_path), "score", argument)
    with pytest.raises(UsageError, match="min_steps=-1"):
        make_hook(tiny_curve.estimator(tmp_path), "score", 1, min_steps=-1)
