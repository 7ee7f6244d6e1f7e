"""The benchmark of the runtime runs, and an instruction in mode "trace" costs little beside its kernel."""

from benchmarks import runtime

AIM = 1.5
"""Microseconds an instruction in mode "trace"; measured are 0.3, also on a busy machine."""


def test_it_runs(capsys):
    found = runtime.main(["--rounds", "3", "--sizes", "32"])
    assert {"instruction", "call", "branches of 32"} == set(found)
    assert all(found["instruction"][f"trace: {name}"] < AIM for name in ("chain", "pairs", "fan"))
    out = capsys.readouterr().out
    assert "trace: chain" in out and "two chains of 4 products of 32 x 32" in out
