"""The benchmark of Executor.run: its programs run, and finding a prepared program costs microseconds."""

from benchmarks import executor


def test_a_run_that_does_nothing_costs_little(capsys):
    found = executor.main(["--seconds", "0.1"])
    printed = [line[:20].strip() for line in capsys.readouterr().out.splitlines()]
    assert list(found) == list(executor.PROGRAMS) == printed
    assert found["empty"] < 50  # an idle machine takes two or three, a busy one with coverage ten times that
