"""The log records that a program's run made, so that a run of the same function behind it makes them no second time."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from ..core.bound import bound_to, plain_attribute
from .host_expr import Expression
from .host_ops import effect_op


def logger_of(call: Expression) -> logging.Logger | None:
    """The logger that gets the record of a call; None for a call of anything else."""
    if type(call) is not tuple or call[0] != "call" or not callable(call[1]):
        return None
    function = call[1]
    owner: Any = bound_to(function)
    if owner is None and plain_attribute(function, "__module__") == "logging":
        return logging.getLogger()
    while isinstance(owner, logging.LoggerAdapter):
        owner = owner.logger
    return owner if isinstance(owner, logging.Logger) else None


class _OfOneThread(logging.Filter):
    """Counts the records that one thread gives a logger; drops the first ones."""

    def __init__(self, drop: int) -> None:
        super().__init__()
        self.seen = 0
        self._drop = drop
        self._thread = get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be shown."""
        if get_ident() != self._thread:
            return True
        self.seen += 1
        return self.seen > self._drop


def loggers_of(operators: Iterable[Any]) -> list[logging.Logger]:
    """The loggers that get records of these operators."""
    found = [logger_of(op.attrs["call"]) for op in operators if op.op is effect_op]
    return list(dict.fromkeys(logger for logger in found if logger is not None))


@contextmanager
def dropping_records(drop: Mapping[logging.Logger, int], counts: dict[Any, int] | None = None) -> Iterator[None]:
    """Let nobody see the first records, so many, that this thread gives each of the loggers in the block.

    counts: is told how many it gave.
    """
    filters = {logger: _OfOneThread(count) for logger, count in drop.items()}
    for logger, found in filters.items():
        logger.addFilter(found)
    try:
        yield
    finally:
        for logger, found in filters.items():
            logger.removeFilter(found)
            if counts is not None:
                counts[logger] = found.seen
