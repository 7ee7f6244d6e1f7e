"""Executor: runs Programs with feed and fetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core.errors import ArgumentError
from ..core.place import Place, as_place, current_place
from ..eager.tensor import Tensor, wrap
from ..ir.guard import default_main_program
from ..ir.program import Program, Variable
from ..runtime.executor import StandaloneExecutor
from ..runtime.scope import Scope, global_scope


class Executor:
    """Runs Programs at a place. Source: paddle.static.Executor.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = x * 3
        >>> exe = paddle.static.Executor()
        >>> [out.tolist() for out in exe.run(main, feed={"x": [1.0, 2.0]}, fetch_list=[y])]
        [[3.0, 6.0]]
    """

    def __init__(self, place: Any = None) -> None:
        self.place: Place = as_place(place) if place is not None else current_place()
        self._executors: WeakKeyDictionary[Program, StandaloneExecutor] = WeakKeyDictionary()

    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Sequence[Variable | str] | None = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = True,
    ) -> list[Any]:
        """The values of `fetch_list`, as NumPy arrays or Tensors.

        feed: name -> array. Parameters are read from `scope` (the global scope by default) and written back there.
        Raises ArgumentError for a missing feed or an unset parameter, ShapeError or DTypeError for a feed that does
        not fit.
        """
        program = program if program is not None else default_main_program()
        block = program.global_block()
        fetches = [block.var(f) if isinstance(f, str) else f for f in fetch_list or ()]
        for fetch in fetches:
            if not isinstance(fetch, Variable):
                raise ArgumentError(f"fetch_list: expects Variables or names, got {type(fetch).__name__}")
        runner = self._executors.get(program)
        if runner is None:
            runner = self._executors[program] = StandaloneExecutor(program)
        given = {name: _array(value) for name, value in (feed or {}).items()}
        results = runner.run(given, fetches, scope or global_scope())
        return [np.asarray(r) if return_numpy else wrap(r) for r in results]

    def close(self) -> None:
        """Forget what was prepared."""
        self._executors.clear()


def _array(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._data
    array = np.asarray(value)
    return array.astype(np.float32) if not hasattr(value, "dtype") and array.dtype == np.float64 else array
