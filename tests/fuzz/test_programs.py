"""Random programs mean the same compiled as eagerly; a program that does not is shown shrunk."""

import pytest

from tests.fuzz.__main__ import described, examine
from tests.fuzz.grammar import WIDE_FROM
from tests.fuzz.program import write_program

COUNT = 2000
CHUNK = 50
REFUSED_AT_MOST = 0.1
"""The share of a chunk that may ask to be written otherwise, when it has to become one program."""


def outcomes(start, full_graph):
    reports = [examine(seed, full_graph) for seed in range(start, start + CHUNK)]
    for report in reports:
        if report.verdict.word == "differ":
            pytest.fail(described(write_program(report.seed), report.verdict, full_graph, seconds=30))
    return [report.verdict.word for report in reports]


@pytest.mark.slow
@pytest.mark.parametrize("start", [*range(0, COUNT, CHUNK), WIDE_FROM])
def test_programs_mean_the_same_compiled(start):
    """The whole function as one program."""
    words = outcomes(start, full_graph=True)
    assert words.count("invalid") <= CHUNK * 0.1
    assert words.count("refused") <= CHUNK * REFUSED_AT_MOST


@pytest.mark.slow
@pytest.mark.parametrize("start", range(COUNT, COUNT + 200, CHUNK))
def test_programs_mean_the_same_in_segments(start):
    """Python between segments does what cannot be compiled, so nothing is refused."""
    assert "refused" not in outcomes(start, full_graph=False)
