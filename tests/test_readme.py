"""The Python of the README runs as it stands, and its commands name flags that there are."""

import pathlib
import re

import pytest

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language):
    """The code blocks of the README in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"), ids=["graph", "model_fn"])
def test_python(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    said = re.search(r"^It prints `(.*?)`", README, flags=re.MULTILINE)[1]
    assert "optimizer.trials" not in code or said == capsys.readouterr().out.splitlines()[0]
