"""A few hundred damaged files of each format; `python -m tests.fuzz.damage` makes as many as wanted."""

from collections import Counter

import pytest

from tests.fuzz.damage import GOOD, PAIRS, attempt, limited_memory


@pytest.mark.parametrize("kind", PAIRS)
def test_damaged_files_end_well(kind, tmp_path):
    with limited_memory():
        ends = {seed: attempt(kind, seed, tmp_path) for seed in range(200)}
    assert {seed: end for seed, end in ends.items() if end not in GOOD} == {}
    assert Counter(ends.values())["refused"] > 100
