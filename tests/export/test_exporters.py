import os

import pytest

from graphtrain import DataError, UsageError, export


class FakeEstimator:
    """Writes an empty directory for an export, and remembers what it was asked for."""

    def __init__(self, model_dir):
        self.model_dir = str(model_dir)
        self.exports = []

    def export_saved_model(self, export_dir_base, receiver_fn, **settings):
        self.exports.append((receiver_fn, settings))
        directory = os.path.join(export_dir_base, str(1000 + len(self.exports)))
        os.makedirs(directory)
        return os.fsencode(directory)


def receiver_fn():
    """Stands for a serving_input_receiver_fn, which FakeEstimator does not call."""


def save(model_dir, step):
    path = model_dir / f"model.ckpt-{step}"
    (model_dir / f"model.ckpt-{step}.index").write_text("")
    return str(path)


def offer(exporter, estimator, tmp_path, step, *, final=False, **metrics):
    return exporter.export(
        estimator,
        f"{tmp_path}/export/{exporter.name}",
        save(tmp_path, step) if not final else f"{tmp_path}/model.ckpt-{step}",
        {"global_step": step, **metrics},
        final,
    )


def test_the_final_exporter_exports_once(tmp_path):
    estimator = FakeEstimator(tmp_path)
    exporter = export.FinalExporter("final", receiver_fn, {"note": "n.txt"}, as_text=True)
    assert offer(exporter, estimator, tmp_path, 1) is None
    path = os.fsencode(f"{tmp_path}/export/final/1001")
    assert offer(exporter, estimator, tmp_path, 1, final=True) == path
    assert offer(exporter, estimator, tmp_path, 1, final=True) == path
    settings = {
        "assets_extra": {"note": "n.txt"},
        "as_text": True,
        "checkpoint_path": f"{tmp_path}/model.ckpt-1",
    }
    assert estimator.exports == [(receiver_fn, settings)]


def test_the_latest_exporter_exports_each_checkpoint_once(tmp_path):
    estimator = FakeEstimator(tmp_path)
    exporter = export.LatestExporter("latest", receiver_fn)
    for step in (1, 2):
        offer(exporter, estimator, tmp_path, step)
    last = offer(exporter, estimator, tmp_path, 2, final=True)
    assert last == os.fsencode(f"{tmp_path}/export/latest/1002")
    assert len(estimator.exports) == 2


def test_a_checkpoint_written_anew_under_the_same_name_is_exported(tmp_path):
    estimator = FakeEstimator(tmp_path)
    exporter = export.LatestExporter("latest", receiver_fn)
    offer(exporter, estimator, tmp_path, 1)
    os.utime(tmp_path / "model.ckpt-1.index", (1, 1))
    offer(exporter, estimator, tmp_path, 1, final=True)
    assert len(estimator.exports) == 2


def test_only_own_exports_are_removed(tmp_path):
    directory = tmp_path / "export" / "latest"
    (directory / "17").mkdir(parents=True)
    estimator = FakeEstimator(tmp_path)
    for step in (1, 2, 3):  # Each exporter stands for a restart.
        exporter = export.LatestExporter("latest", receiver_fn, exports_to_keep=2)
        offer(exporter, estimator, tmp_path, step)
    assert sorted(os.listdir(directory)) == ["1002", "1003", "17", "exports.json"]


def test_all_are_kept(tmp_path):
    estimator = FakeEstimator(tmp_path)
    exporter = export.LatestExporter("latest", receiver_fn, exports_to_keep=None)
    for step in range(7):
        offer(exporter, estimator, tmp_path, step)
    assert len(os.listdir(tmp_path / "export" / "latest")) == 8


def test_a_damaged_record(tmp_path):
    estimator = FakeEstimator(tmp_path)
    exporter = export.LatestExporter("latest", receiver_fn)
    offer(exporter, estimator, tmp_path, 1)
    (tmp_path / "export" / "latest" / "exports.json").write_text("{")
    with pytest.raises(DataError, match="exports.json cannot be read .* remove it to forget"):
        offer(exporter, estimator, tmp_path, 2)


@pytest.mark.parametrize("make", [export.FinalExporter, export.LatestExporter])
@pytest.mark.parametrize("name", [None, "", 3])
def test_bad_names(make, name):
    with pytest.raises(UsageError, match="name must be a non-empty str"):
        make(name, receiver_fn)


@pytest.mark.parametrize("count", [0, -1, 1.5])
def test_bad_numbers_of_exports(count):
    with pytest.raises(UsageError, match=f"exports_to_keep={count}"):
        export.LatestExporter("latest", receiver_fn, exports_to_keep=count)


def test_an_exporter_of_ones_own():
    class Half(export.Exporter):
        name = "half"

    with pytest.raises(TypeError, match="abstract"):
        Half()
