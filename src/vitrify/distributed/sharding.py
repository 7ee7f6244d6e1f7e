"""`paddle.distributed.sharding`: models whose state would be split over processes; one process keeps all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.errors import ArgumentError
from ..framework.save_load import save

_LEVELS = ("os", "os_g", "p_g_os")


def group_sharded_parallel(
    model: Any, optimizer: Any, level: str, scaler: Any = None, *settings: Any, **more: Any
) -> tuple[Any, Any, Any]:
    """(model, optimizer, scaler) as they are.

    level: "os", "os_g" or "p_g_os", for splitting the optimizer's state, the gradients, too, and the parameters, too;
    raises ArgumentError for others. Other settings have no effect. Source: paddle.distributed.sharding.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.sharding import group_sharded_parallel
        >>> net = paddle.nn.Linear(2, 2)
        >>> group_sharded_parallel(net, paddle.optimizer.SGD(parameters=net.parameters()), "os_g")[0] is net
        True
    """
    if level not in _LEVELS:
        raise ArgumentError(f"group_sharded_parallel: level must be one of {', '.join(_LEVELS)}, got {level!r}")
    return model, optimizer, scaler


def save_group_sharded_model(model: Any, output: str, optimizer: Any = None) -> None:
    """Save the state of the model to output/model.pdmodel, that of the optimizer to output/model.pdopt.

    Source: paddle.distributed.sharding.save_group_sharded_model.
    """
    Path(output).mkdir(parents=True, exist_ok=True)
    save(model.state_dict(), str(Path(output, "model.pdmodel")))
    if optimizer is not None:
        save(optimizer.state_dict(), str(Path(output, "model.pdopt")))


__all__ = ["group_sharded_parallel", "save_group_sharded_model"]
