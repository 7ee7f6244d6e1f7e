"""Runs operators, control flow and training without machine code, and prints what was run: `all` or `programs`."""

import sys
import warnings
from pathlib import Path

import numpy as np

import vitrify as paddle
from tests.support.constructs import BRANCH, CONSTRUCTS, LOOP
from tests.support.harness import CONVERTED, status
from vitrify.codegen.llvm import why_not_here
from vitrify.core.config import NATIVE, set_flags
from vitrify.testing import check_case

# Each so manieth of what there is, for all of it takes minutes; it runs with the flag off when asked for.
EVERY_CASE, EVERY_CONSTRUCT = 12, 2
PAGE = Path(__file__).parents[2] / "docs" / "python-support.md"


def cases() -> int:
    """Check operators against their references, eagerly and as programs."""
    from tests.ops.test_cases import CASES

    chosen = CASES[::EVERY_CASE]
    for case in chosen:
        check_case(case)
    return len(chosen)


def constructs() -> int:
    """Convert branches and loops that convert with it, which compute what the functions as they are compute."""
    page = PAGE.read_text(encoding="utf-8")
    there = [c for c in CONSTRUCTS if c.group in (BRANCH, LOOP) and f"| {c.name} | {CONVERTED} |" in page]
    chosen = there[::EVERY_CONSTRUCT]
    left = [c.name for c in chosen if status(c) != CONVERTED]
    assert not left, left
    return len(chosen)


def trained(is_static: bool) -> list[float]:
    """The losses of a small net of all kinds of layers, in training steps that update its parameters."""
    paddle.seed(1)
    nn = paddle.nn
    image = nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten())
    rest = nn.Sequential(nn.Linear(64, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.25), nn.Linear(16, 3))
    opt = paddle.optimizer.AdamW(0.01, parameters=[*image.parameters(), *rest.parameters()])

    def step(x, y):
        h = image(x)
        for _ in range(2):
            if h.mean() > 0.4:
                h = h * 0.5
        loss = nn.functional.cross_entropy(rest(h), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step, full_graph=True) if is_static else step
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 1, 8, 8)).astype("float32")
    y = rng.integers(0, 3, (8,))
    return [float(run(paddle.to_tensor(x), paddle.to_tensor(y))) for _ in range(12)]


def main(what: str) -> None:
    assert not NATIVE.value or why_not_here(), "there is machine code"
    set_flags({"native_after_ms": 0.0})
    wanted, found = trained(False), trained(True)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert found[-1] < found[0]
    print(constructs(), cases() if what == "all" else 0)
    assert not any(name.split(".")[0] == "llvmlite" and module for name, module in sys.modules.items())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
