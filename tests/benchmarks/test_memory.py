"""Peak memory of forward and backward is what liveness allows, and no more than eager's."""

from __future__ import annotations

import pytest

import vitrify as paddle
from benchmarks import memory
from benchmarks.models import transformer

SMALL = transformer.Size(layers=2, width=128, heads=4, length=64, batch=8, vocabulary=64)


def small_transformer():
    return transformer.gpt(paddle, SMALL), list(transformer.batch(SMALL))


@pytest.mark.parametrize("build", [lambda: memory.mlp24(batch=128), small_transformer])
def test_compiled_stays_near_the_bound_and_below_eager(build):
    found = memory.measure(build)
    assert found.over_bound < 1.1
    assert found.over_eager < 1.02  # it is less; Python's own objects count as well
    assert found.threads / found.bound.peak < 1.1
    assert found.threads / found.eager < 1.02
    assert len(found.timeline) == len(found.bound.live) - 1  # the bound counts the seed as made by one more
    assert max(found.timeline) <= found.compiled


def test_the_table_is_printed(capsys, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(memory, "MODELS", {"tiny": lambda: memory.mlp24(batch=16)})
    memory.main(["--plot", str(tmp_path / "pictures" / "peak.svg")])
    assert capsys.readouterr().out.splitlines()[1].startswith("tiny ")
    assert (tmp_path / "pictures" / "peak.svg").stat().st_size < 100_000
