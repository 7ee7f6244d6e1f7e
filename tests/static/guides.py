"""Programs in the shape of Paddle's guides to static graphs, whose results are compared with PaddlePaddle 3.3.1's.

`python -m tests.static.guides tests/static/guides_paddle.json` records them, under a Python that has PaddlePaddle; run
it again with FLAGS_enable_pir_api=0: some of the programs run there in one of the two modes only. What is in the file
stays as it is.
"""

import importlib
import json
import os
import sys
import tempfile
from inspect import isfunction
from pathlib import Path

import numpy as np

from tests.static import guides_features, guides_models, guides_training

CASES = {
    name: value
    for module in (guides_training, guides_features, guides_models)
    for name, value in vars(module).items()
    if isfunction(value) and value.__module__ == module.__name__
}


def run(paddle, name):
    """What the program gives: a list of texts and of nested lists of numbers."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    scope = getattr(paddle.static, "Scope", None) or type(paddle.static.global_scope())
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            guards = (
                paddle.utils.unique_name.guard(),
                paddle.static.scope_guard(scope()),
                paddle.static.program_guard(main, startup),
            )
            with guards[0], guards[1], guards[2]:
                found = CASES[name](paddle)
        finally:
            os.chdir(before)
    return [v if isinstance(v, str) else _rounded(np.asarray(v)) for v in found]


def _rounded(array):
    return [list(array.shape), [float(f"{v:.7g}") for v in array.astype("float64").ravel()]]


def record(file):
    """Add to the file what runs."""
    paddle = importlib.import_module("paddle")
    paddle.enable_static()
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for name in CASES.keys() - known.keys():
        try:
            known[name] = run(paddle, name)
        except Exception as err:  # noqa: BLE001
            print(f"{name}: {type(err).__name__}: {str(err)[:100]}", file=sys.stderr)
    file.write_text(json.dumps(known, sort_keys=True), encoding="utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
