import importlib


def test_prediction_and_evaluation_are_timed_against_bare_loops(scripts):
    prediction = importlib.import_module("benchmarks.prediction")
    figures = prediction.measure(
        batch_size=1500, repeats=1, models=["mlp"], epochs=1, warm_up_calls=0
    )
    assert [f.measure for f in figures if "bare" not in f.measure and f.unit == "images/s"] == [
        "mlp: predict, batches",
        "mlp: predict, examples",
        "mlp: evaluate",
    ]
    assert all(f.median > 0 for f in figures if "predict" in f.measure)
    assert [(f.measure, f.at_most) for f in figures if f.at_most is not None] == [
        ("mlp: predict, batches / bare prediction, time", 1.1),
        ("mlp: predict, examples / bare prediction, time", 1.1),
        ("mlp: evaluate / bare evaluation, time", 1.1),
    ]
