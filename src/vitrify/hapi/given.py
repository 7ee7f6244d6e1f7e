"""What a Model is given, checked: settings of mixed precision, metrics, and parameters out of a file."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ..amp import GradScaler, auto_cast
from ..core.errors import ArgumentError
from ..eager.layer import Layer
from ..metric import Metric

SCALING = frozenset(inspect.signature(GradScaler).parameters) - {"enable"}
CASTING = frozenset(inspect.signature(auto_cast).parameters) - {"enable"}


def amp_settings(amp_configs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of `auto_cast`, none at level O0, and those of `GradScaler`.

    Raises ArgumentError for what is no level and for settings of neither.
    """
    given = {"level": amp_configs} if isinstance(amp_configs, str) else amp_configs or {}
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"Model.prepare: amp_configs must be a level such as 'O1' or a dict, got {type(given).__name__}"
        )
    level = given.get("level", "O1")
    if level not in ("O0", "O1", "O2"):
        raise ArgumentError(f"Model.prepare: the level in amp_configs must be O0, O1 or O2, got {level!r}")
    unknown = sorted(given.keys() - SCALING - CASTING)
    if unknown:
        raise ArgumentError(
            f"Model.prepare: amp_configs has {', '.join(unknown)}, which no setting of mixed precision is called",
            hint=f"there are {', '.join(sorted(SCALING | CASTING))}",
        )
    if level == "O0" or not given:
        return {}, {}
    casting = {"level": level} | {name: value for name, value in given.items() if name in CASTING}
    return casting, {name: value for name, value in given.items() if name in SCALING}


def metrics_of(given: Sequence[Any]) -> list[Metric]:
    """The metrics, which must be such. Raises ArgumentError."""
    for metric in given:
        if not isinstance(metric, Metric):
            raise ArgumentError(f"Model.prepare: metrics must be objects of Metric, got {type(metric).__name__}")
    return list(given)


def fitting(network: Layer, state: Mapping[str, Any], skip_mismatch: bool) -> dict[str, Any]:
    """What of `state` belongs to the network. What lacks there or has another shape raises ArgumentError.

    With skip_mismatch that is left out.
    """
    wrong: dict[str, str] = {}
    for name, own in network.state_dict().items():
        if name not in state:
            wrong[name] = f"{name} is not in the file"
        elif list(state[name].shape) != list(own.shape):
            wrong[name] = f"{name} has the shape {list(state[name].shape)} in the file, not {list(own.shape)}"
    if wrong and not skip_mismatch:
        raise ArgumentError(
            f"Model.load: {'; '.join(wrong.values())}", hint="skip_mismatch=True leaves out what does not fit"
        )
    return {name: value for name, value in state.items() if name not in wrong}


__all__ = ["amp_settings", "fitting", "metrics_of"]
