"""Who is timed: a framework, in one of its ways of running."""

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Contender:
    """A framework and a mode; `peer` is the framework whose Python environment it runs in."""

    name: str
    peer: str  # "vitrify", "paddle", "torch" or "jax"
    mode: str  # "eager" or "compiled"

    @property
    def function(self) -> str:
        """The workload's function that builds it: vitrify has Paddle's interface."""
        return "paddle" if self.peer == "vitrify" else self.peer


OURS_EAGER = Contender("vitrify eager", "vitrify", "eager")
OURS_STATIC = Contender("vitrify static", "vitrify", "compiled")
CONTENDERS = (
    OURS_EAGER,
    OURS_STATIC,
    Contender("torch eager", "torch", "eager"),
    Contender("torch.compile", "torch", "compiled"),
    Contender("jax.jit", "jax", "compiled"),
    Contender("paddle eager", "paddle", "eager"),
    Contender("paddle static", "paddle", "compiled"),
)


def pythons(torch: str | None, jax: str | None, paddle: str | None) -> dict[str, str]:
    """Return the interpreter of each framework that is there; vitrify's is the one running now."""
    given = {"vitrify": sys.executable, "torch": torch, "jax": jax, "paddle": paddle}
    return {peer: python for peer, python in given.items() if python is not None}
