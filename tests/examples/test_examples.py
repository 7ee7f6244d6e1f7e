"""Each example runs by itself and asserts what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NUMBERED = sorted(path.name for path in EXAMPLES.glob("[0-9]*.py"))


def run(name, *arguments, cwd):
    """What an example prints; fails with its traceback when it fails."""
    source = str(EXAMPLES.parent / "src")
    env = {**os.environ, "PYTHONPATH": source, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "error::UserWarning"}
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", NUMBERED)
def test_numbered(name, tmp_path):
    assert run(name, cwd=tmp_path)


@pytest.mark.slow
def test_digits(tmp_path):
    pytest.importorskip("sklearn")
    printed = run("digits.py", cwd=tmp_path)
    assert "360 of 360 equal predictions" in printed
    accuracies = [float(found) for found in re.findall(r"(\d+\.\d)%", printed)]
    assert len(accuracies) == 3
    assert min(accuracies) >= 97.0
    picture = (tmp_path / "runs" / "digits.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 20_000


@pytest.mark.slow
def test_char_gpt(tmp_path):
    printed = run("char_gpt.py", "--steps", "20", "--length", "40", "--prompt", "Return ", cwd=tmp_path)
    assert "bits a character" in printed
    assert "--- 'Return '" in printed
