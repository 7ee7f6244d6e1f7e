"""The benchmark of the runtime runs and prints what it is asked for; its times are for people to read."""

from benchmarks import runtime


def test_it_runs(capsys):
    found = runtime.main(["--rounds", "3", "--sizes", "32"])
    assert {"instruction", "call", "branches of 32"} == set(found)
    assert {f"trace: {name}" for name in ("chain", "pairs", "fan")} <= set(found["instruction"])
    out = capsys.readouterr().out
    assert "trace: chain" in out and "two chains of 4 products of 32 x 32" in out
