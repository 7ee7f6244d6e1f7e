"""What an Operator is in Paddle's programs, for code that looks for types, slots and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.late import LateModule

DESCRIPTIONS = LateModule()
"""The module that knows: Paddle's names live above."""


@dataclass(frozen=True)
class Description:
    """An operator's type, the names of variables in its slots, and its attributes, in Paddle's words."""

    type: str
    inputs: Mapping[str, list[str]]
    outputs: Mapping[str, list[str]]
    attrs: Mapping[str, Any]
