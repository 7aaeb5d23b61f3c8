import pytest


@pytest.mark.slow
def test_a_run_killed_eight_times_equals_an_unbroken_one(scripts):
    code, stdout, stderr = scripts.run("crash_test", "--kills=8")
    assert "8 kills, " in stdout, stderr
    assert "all is equal bit for bit" in stdout
    assert code == 0
