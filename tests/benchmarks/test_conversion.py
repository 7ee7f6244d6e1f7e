"""The benchmark of conversion: its file is what it says; conversion does bounded work a line, and none a second time.

Work is counted in calls of functions, which no busy machine changes; seconds are the benchmark's own matter.
"""

import sys
from collections import Counter

import pytest

from benchmarks import conversion


def calls_of(convert, functions):
    """How many functions, Python's and C's, were called."""
    events = Counter()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, arg: events.update([event]))
    try:
        convert(functions)
    finally:
        sys.setprofile(before)
    return events["call"] + events["c_call"]


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """Lines, functions, and the calls that a first and a second conversion take, for files of two lengths."""
    found = {}
    for lines in (300, 600):
        source = conversion.model_source(lines)
        functions = conversion.functions_of(conversion.load(source, tmp_path_factory.mktemp("model")))
        conversion.forget()
        first, again = (calls_of(conversion.convert_all, functions) for _ in range(2))
        found[lines] = (source.count("\n"), len(functions), first, again)
    return found


def test_the_file_has_the_length_asked_for(tmp_path):
    source = conversion.model_source(300)
    assert 300 <= source.count("\n") <= 360
    module = conversion.load(source, tmp_path)
    assert {f.__name__ for f in conversion.functions_of(module)} >= {"default", "forward", "__init__", "loss_4"}


def test_conversion_does_bounded_work_a_line(work):
    (short, _, few, _), (long, _, many, _) = work.values()
    assert many / long == pytest.approx(few / short, rel=0.15)
    assert many / long < 5000


def test_a_second_conversion_looks_at_no_syntax_tree(work):
    for _, functions, _, again in work.values():
        assert again < 60 * functions


def test_the_benchmark_prints_its_times(capsys):
    assert conversion.main(["--rounds", "1", "--lines", "100"]) > 0
    assert {"first", "again"} <= {line.split(" ")[0] for line in capsys.readouterr().out.splitlines()}
