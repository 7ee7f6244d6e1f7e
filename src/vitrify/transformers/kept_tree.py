"""Converted trees that are kept for reading them (`fn.code`): as few bytes instead of a thousand objects each.

Trees of all functions of a large program are hundreds of megabytes, and the garbage collector would walk them again and
again; hardly one is ever read. Writing the text at once would take half as long as converting does.
"""

from __future__ import annotations

import pickle
import zlib

from .nodes import Node
from .render import render


class KeptTree:
    """A syntax tree as it was when it was kept; whoever changes it later changes a tree of their own."""

    __slots__ = ("_bytes",)

    def __init__(self, tree: Node) -> None:
        self._bytes = zlib.compress(pickle.dumps(tree, pickle.HIGHEST_PROTOCOL), level=1)

    def __len__(self) -> int:
        """The bytes it takes."""
        return len(self._bytes)

    @property
    def source(self) -> str:
        """The tree as Python text."""
        return render(pickle.loads(zlib.decompress(self._bytes)))
