"""The comparison with another framework, tried with vitrify in both places."""

import sys

import numpy as np
import pytest

from tests.models.__main__ import main
from tests.models.report import distances, page

OURS = {"output 0": np.array([1.0, 2.0], "float32"), "losses": np.array([3.0], "float32"), "parameters": np.array(7)}


@pytest.mark.slow
def test_a_run_writes_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.models.__main__.PEER", "vitrify")
    out = tmp_path / "page.md"
    assert main(["--paddle", sys.executable, "--only", "Word2vec", "--out", str(out)]) == 0
    assert "| Word2vec | 144 | 0e+00 | 0e+00 | 0e+00 | 0e+00 |" in out.read_text()


def test_distances_are_relative_and_see_shapes_kinds_and_what_is_missing():
    near = {**OURS, "output 0": np.array([1.0, 2.002], "float32")}
    assert distances(OURS, near) == {"outputs": pytest.approx(1e-3, rel=1e-2), "loss curve": 0.0}
    for other in (np.array([1.0, 2.0]), np.array([[1.0, 2.0]], "float32")):
        assert distances(OURS, {**OURS, "output 0": other})["outputs"] == float("inf")
    ids = {"generate 0": np.array([1, 2])}
    assert distances(ids, {"generate 0": np.array([1, 3])}) == {"other methods": float("inf")}
    assert distances({**OURS, **ids}, OURS)["other methods"] == float("inf")


def test_the_page_marks_what_is_far_and_what_fails():
    def named(model, results):
        return {f"{model}/{name}": value for name, value in results.items()}

    far = {**OURS, "losses": np.array([2.0], "float32")}
    ours = {**named("A", OURS), **named("B", OURS)}
    theirs = {"version": np.array("9.9"), **named("A", far), "B/error": np.array("ValueError: no\nmore")}
    text = page(["A", "B"], ours, theirs)
    assert "| A | 7 | 0e+00 |  | **3e-01** |  |" in text
    assert "| B | | PaddlePaddle raises ValueError: no | | | |" in text
