"""paddle.dataset: of its old readers, which download, only the helpers that programs import by this path."""

from . import common

__all__ = ["common"]
