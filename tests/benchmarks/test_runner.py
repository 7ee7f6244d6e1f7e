"""The benchmark runner: who runs, how results are compared and written."""

import json
import mmap
import sys
from argparse import Namespace

import pytest

from benchmarks import run, worker
from benchmarks.case import Case
from benchmarks.contenders import CONTENDERS, OURS_EAGER, OURS_STATIC, Contender, pythons
from benchmarks.measure import Result, contest
from benchmarks.plot import plot, relative
from benchmarks.report import json_lines, summary, table, this_run

TORCH = next(c for c in CONTENDERS if c.name == "torch eager")


def result(contender, *microseconds, value=1.0, error=None):
    rounds = [us * 1e-6 for us in microseconds]
    memory = {"peak": 3 << 20, "built": 1 << 20}
    return Result(contender, 0.25, value, **memory, steps=7, rounds=rounds, versions={"python": "3"}, error=error)


def chosen(**options):
    return Namespace(**{"torch": None, "jax": None, "paddle": None, "without": [], **options})


def test_without_peers_vitrify_runs_alone():
    assert list(run.contenders("mlp_small", chosen())) == [OURS_EAGER, OURS_STATIC]


def test_peers_run_in_the_environments_given():
    found = run.contenders("mlp_small", chosen(torch="/t/python", jax="/j/python", without=["torch.compile"]))
    assert [c.name for c in found] == ["vitrify eager", "vitrify static", "torch eager", "jax.jit"]
    assert found[TORCH] == "/t/python" and found[OURS_EAGER] == sys.executable


def test_a_workload_may_have_fewer_modes_and_frameworks():
    found = run.contenders("eager_add", chosen(torch="t", jax="j", paddle="p"))
    assert [c.name for c in found] == ["vitrify eager", "torch eager", "paddle eager"]


def test_an_unknown_workload_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.arguments(["--only", "mlp_small,typo"])
    assert "no workload typo; there are call_overhead, eager_add" in capsys.readouterr().err


def test_every_workload_has_a_title_and_vitrify():
    for name in run.workloads():
        assert OURS_EAGER in run.contenders(name, chosen())


def test_the_table_has_medians_ratios_and_disagreements():
    results = [result(OURS_EAGER, 8, 10, 90), result(OURS_STATIC, 5), result(TORCH, 20, value=2.0)]
    lines = table("a title", results).splitlines()
    assert lines[0] == "a title"
    assert lines[2].split() == ["vitrify", "eager", "10.0", "2.00", "1.00", "250.0", "3.0", "2.0"]
    assert lines[4].split()[2:5] == ["20.0", "4.00", "2.00"]
    assert lines[4].endswith("value 2 differs from 1")


def test_the_table_says_who_failed():
    results = [result(OURS_STATIC, error="NameError: x\nmore"), result(TORCH, 20)]
    assert table("t", results).splitlines()[2:] == [
        "vitrify static   failed: NameError: x",
        "torch eager              20.0         -         -        250.0        3.0        2.0",
    ]


def test_the_summary_compares_with_the_best():
    results = [result(OURS_EAGER, 10), result(OURS_STATIC, 5), result(TORCH, 20)]
    lines = summary({"a": results, "b": results[2:]}).splitlines()
    assert lines[1].split() == ["a", "0.50", "4.00"] and lines[2].split() == ["b", "-", "-"]


def test_the_summary_ends_with_the_mean():
    found = {"a": [result(OURS_STATIC, 10), result(TORCH, 20)], "b": [result(OURS_STATIC, 10), result(TORCH, 80)]}
    assert summary(found).splitlines()[-1].split() == ["geometric", "mean", "4.00"]


def test_the_picture_is_relative_to_the_better_of_ours(tmp_path):
    pytest.importorskip("matplotlib")
    results = [result(OURS_EAGER, 10), result(OURS_STATIC, 5), result(TORCH, 20), result(CONTENDERS[3], error="no")]
    assert relative(results) == {"vitrify eager": 2.0, "vitrify static": 1.0, "torch eager": 4.0}
    assert relative(results[2:]) == {}
    plot({"mlp": results, "nothing": []}, tmp_path / "pictures" / "ratios.svg")
    picture = (tmp_path / "pictures" / "ratios.svg").read_text(encoding="utf-8")
    assert "mlp" in picture and "torch eager" in picture and "nothing" not in picture and "torch.compile" not in picture


def test_json_lines_hold_everything():
    (line,) = json_lines("w", [result(TORCH, 20, 30)], this_run(threads=1))
    found = json.loads(line)
    assert found["median_us"] == pytest.approx(25) and found["rounds_us"] == pytest.approx([20, 30])
    assert found["machine"]["threads"] == 1 and found["machine"]["cores"] >= 1
    assert {"commit", "date", "versions", "first_call_us", "peak_bytes", "error"} <= set(found)


def test_steps_fill_about_the_time_asked_for():
    calls = []
    steps = worker.steps_for(Case(lambda: calls.append(1), float), 0.01)
    assert 100 < steps < 10**7 and len(calls) > steps / 100


class Clock:
    """Steps that take as long as they are said to, by a clock that only they move."""

    def __init__(self, monkeypatch, seconds_of):
        self.now, self.steps, self.seconds_of = 0.0, 0, seconds_of
        monkeypatch.setattr(worker, "perf_counter", lambda: self.now)

    def step(self):
        self.now += self.seconds_of(self.steps)
        self.steps += 1


def test_steps_are_counted_once_their_pace_has_settled(monkeypatch):
    """As with a compiler that works on its kernels while the first steps run."""
    clock = Clock(monkeypatch, lambda number: 2e-3 if number < 15 else 1e-5)
    assert worker.steps_for(Case(clock.step, float), 0.01) == pytest.approx(1000, rel=0.01)


def test_warming_up_ends_where_the_pace_never_settles(monkeypatch):
    clock = Clock(monkeypatch, lambda number: 1e-2 * 4 ** (number % 7))
    assert worker.steps_for(Case(clock.step, float), 0.005) == 1
    assert clock.now < 100


def test_the_memory_of_a_process_is_told_where_the_system_does():
    def pages():
        """Memory that comes from the system and goes back, whatever this process has kept so far."""
        with mmap.mmap(-1, 64 << 20) as taken:
            for place in range(0, len(taken), mmap.PAGESIZE):
                taken[place] = 1

    taken = worker.peak_memory(pages)
    now = worker.memory("VmRSS")
    assert (taken is None) == (now is None) == (worker.memory("VmHWM") is None)
    assert taken is None or now is None or taken - now > 32 << 20
    assert worker.memory("VmNoSuchEntry") is None


def test_unknown_memory_is_a_dash():
    assert table("t", [Result(TORCH, 0.25, 1.0, rounds=[20e-6])]).splitlines()[2].split()[-2:] == ["-", "-"]


def test_only_given_interpreters_are_used():
    assert pythons(None, None, "p") == {"vitrify": sys.executable, "paddle": "p"}


def test_a_framework_that_is_missing_fails_alone():
    nobody = Contender("nobody", "no_such_framework", "eager")
    (failed,) = contest("mlp_small", {nobody: sys.executable}, 2, 0.01, 1, lambda text: None)
    assert failed.error and "no_such_framework" in failed.error and failed.rounds == []


def test_an_interpreter_that_cannot_start_a_worker_fails_alone():
    (failed,) = contest("no_such_workload", {OURS_EAGER: sys.executable}, 1, 0.01, 1, lambda text: None)
    assert failed.error and "no_such_workload" in failed.error


@pytest.mark.slow
def test_a_whole_run(tmp_path, capsys):
    out = tmp_path / "results" / "r.jsonl"
    status = run.main(["--only", "eager_add,mlp_small", "--rounds", "2", "--seconds", "0.01", "--out", str(out)])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "differs" not in printed and "static/eager" in printed
    assert [json.loads(line)["contender"] for line in out.read_text().splitlines()] == [
        "vitrify eager",
        "vitrify eager",
        "vitrify static",
    ]
