"""The benchmark of loading a saved model in a new process runs, and says when a limit is missed."""

import pytest

from benchmarks import load


@pytest.mark.slow
def test_consumers_agree_and_limits_count(capsys):
    assert load.main(["--rounds", "1", "--limit", "60"]) == 0
    assert "vitrify Predictor" in capsys.readouterr().out
    assert load.report([load.Consumer("a", "", "", [2.0], [1.0], [3.0])], 1, 1.0) == 1
    assert "missed" in capsys.readouterr().out
