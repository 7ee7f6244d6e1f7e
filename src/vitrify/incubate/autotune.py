"""`paddle.incubate.autotune`: what PaddlePaddle tries out while training. Source: paddle.incubate.autotune."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import ArgumentError, DTypeError

_KEYS = {"kernel": {"enable", "tuning_range"}, "layout": {"enable"}, "dataloader": {"enable"}}


def set_config(config: Mapping[str, Mapping[str, Any]] | str | None = None) -> None:
    """None: checked, and without effect. Kernels, layouts and workers are chosen by what runs measure, or by the user.

    config: for "kernel", "layout" and "dataloader" a dict of "enable", a bool, and for kernels "tuning_range", the
    first and last iteration; or the path of a JSON file with that; None for all. Raises ArgumentError for other keys
    and ranges, DTypeError for values of other types, OSError where there is no such file.
    Source: paddle.incubate.autotune.set_config.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.autotune.set_config({"kernel": {"enable": True, "tuning_range": [1, 5]}})
    """
    if isinstance(config, str):
        config = json.loads(Path(config).read_text(encoding="utf-8"))
    if config is None:
        return
    if not isinstance(config, Mapping):
        raise DTypeError(f"autotune.set_config: config must be a dict, a path or None, got {type(config).__name__}")
    for kind, settings in config.items():
        _check(kind, settings)


def _check(kind: str, settings: Any) -> None:
    if kind not in _KEYS:
        raise ArgumentError(f"autotune.set_config: there is no tuning of {kind!r}, only of {', '.join(_KEYS)}")
    if not isinstance(settings, Mapping) or not settings.keys() <= _KEYS[kind]:
        raise ArgumentError(f"autotune.set_config: {kind} takes {', '.join(sorted(_KEYS[kind]))}, got {settings!r}")
    if not isinstance(settings.get("enable", False), bool):
        raise DTypeError(f"autotune.set_config: enable must be a bool, got {settings['enable']!r}")
    limits = settings.get("tuning_range", (1, 10))
    is_pair = isinstance(limits, (list, tuple)) and len(limits) == 2 and all(type(n) is int for n in limits)
    if not is_pair or limits[0] > limits[1]:
        raise ArgumentError(f"autotune.set_config: tuning_range must be [first, last], got {limits!r}")


__all__ = ["set_config"]
