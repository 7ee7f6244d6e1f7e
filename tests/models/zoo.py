"""Every model of this folder: a module with `CASES` holds some."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.models.case import Case

FOLDER = Path(__file__).parent
NOT_MODELS = {"case", "checks", "zoo", "worker", "report", "model_outputs", "resuming"}


def modules() -> list[str]:
    """Return the names of the modules that hold models."""
    stems = sorted(path.stem for path in FOLDER.glob("*.py"))
    return [stem for stem in stems if not stem.startswith(("_", "test_")) and stem not in NOT_MODELS]


def all_cases() -> list[Case]:
    """Return the models of all files, file by file."""
    return [case for name in modules() for case in import_module(f"tests.models.{name}").CASES]
