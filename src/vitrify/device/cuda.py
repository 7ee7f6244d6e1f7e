"""NVIDIA GPUs by CuPy, which is imported when the first array on a GPU is asked for."""

from __future__ import annotations

from typing import Any

from ..core.lazy import require


def cupy() -> Any:
    """CuPy; raises MissingPackageError naming the extra to install."""
    return require("cupy", "cuda12", "arrays on a GPU")
