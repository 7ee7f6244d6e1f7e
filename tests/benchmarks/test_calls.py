"""The benchmark of calls: its functions give what eager code gives, and each is measured in three ways."""

import numpy as np
import pytest

import vitrify as paddle
from benchmarks import calls


@pytest.mark.parametrize("case", calls.CASES, ids=[case.name for case in calls.CASES])
def test_functions_are_measured_that_give_what_eager_code_gives(case, monkeypatch, capsys):
    args = [paddle.to_tensor(a) for a in case.args]
    wanted = case.fn(*args).numpy()
    np.testing.assert_allclose(paddle.jit.to_static(case.fn, full_graph=True)(*args).numpy(), wanted, rtol=1e-5)
    monkeypatch.setattr(calls, "SETTLING_CALLS", 1)
    monkeypatch.setattr(calls, "SECONDS", 0)
    capsys.readouterr()
    monkeypatch.setattr("sys.argv", ["calls", "--rounds", "1", "--only", case.name])
    calls.main()
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["eager", "interpreter", "native"] and row.startswith(case.name)
    assert all(float(number) > 0 for number in row.removeprefix(case.name).split())
