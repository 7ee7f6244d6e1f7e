"""What Paddle's static mode calls changing a Block: operators by the names of its programs, put in and taken out.

How that is done lies above (`paddle_program/block_surgery.py`), where those names are known; here is what Blocks offer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import ArgumentError
from ..core.late import LateModule

if TYPE_CHECKING:
    from .operator import Operator
    from .program import Block, Program
    from .variable import Variable

SURGERY = LateModule()
"""The module that does it."""
VERSION_OF = "version_of"
"""The attribute of a variable that holds what another one, written before, holds after a later operator writes it."""
Slots = Mapping[str, Any] | None
Attrs = Mapping[str, Any] | None


class SurgicalBlock:
    """The methods by which a Block is changed. Source: paddle.static.Program.global_block."""

    program: Program
    parent: Block | None
    ops: list[Operator]
    vars: dict[str, Variable]
    all_parameters: Callable[[], list[Variable]]

    def append_op(
        self, type: str | None = None, inputs: Slots = None, outputs: Slots = None, attrs: Attrs = None, **_: Any
    ) -> Operator:
        """Add the operator of this name in Paddle's programs at the end; it is the last one of what it is made of here.

        inputs: variables, names or lists of these by slot; outputs likewise, of variables that the block has, which
        take shape and dtype of what the operator gives. Raises ArgumentError for operators and names, UnsupportedError
        for slots and attributes that are not known.

        Example:
            >>> import vitrify as paddle
            >>> main = paddle.static.Program()
            >>> with paddle.static.program_guard(main):
            ...     x = paddle.static.data("x", [2])
            >>> block = main.global_block()
            >>> out = block.create_var(name="out")
            >>> _ = block.append_op(type="scale", inputs={"X": x}, outputs={"Out": out}, attrs={"scale": 3.0})
            >>> paddle.static.Executor().run(main, feed={"x": [1.0, 2.0]}, fetch_list=["out"])[0].tolist()
            [3.0, 6.0]
        """
        return self._insert_op(len(self.ops), type, inputs, outputs, attrs)

    def _prepend_op(
        self, type: str | None = None, inputs: Slots = None, outputs: Slots = None, attrs: Attrs = None, **_: Any
    ) -> Operator:
        """`append_op`, before all others."""
        return self._insert_op(0, type, inputs, outputs, attrs)

    def _insert_op(
        self, index: int, type: str | None = None, inputs: Slots = None, outputs: Slots = None, attrs: Attrs = None,
        **_: Any,
    ) -> Operator:  # fmt: skip
        """`append_op`, before the operator that is number `index` now.

        A variable that was written before means the new value for the operators behind it, and the old one for those
        before it.
        """
        if type is None:
            raise ArgumentError("append_op: which operator? Its type is missing", hint="append_op(type='scale', ...)")
        found: Operator = SURGERY.insert_operator(self, index, type, inputs or {}, outputs or {}, attrs or {})
        return found

    def _insert_op_without_sync(self, index: int, *args: Any, **kwargs: Any) -> Operator:
        return self._insert_op(index, *args, **kwargs)

    def _remove_op(self, index: int, sync: bool = True) -> None:
        """Take out operator number `index`; those behind it then read what was written before it, if anything was."""
        SURGERY.remove_operator(self, index)

    def _rename_var(self, name: str, new_name: str) -> Variable:
        """The variable `name`, called `new_name` from now on; raises ArgumentError as `rename_var` does."""
        found: Variable = SURGERY.rename_variable(self, name, new_name)
        return found

    def _remove_var(self, name: str, sync: bool = True) -> None:
        """Forget the variable, which nothing may use any more."""
        self.vars.pop(name, None)

    def create_parameter(self, *, shape: Sequence[int], dtype: Any = "float32", **settings: Any) -> Variable:
        """A new parameter of the program; what `initializer` says stands in the startup program of now.

        settings: name, initializer (the default one of weights where there is none), trainable, and what else a
        ParamAttr takes. Raises ArgumentError for other settings.
        """
        found: Variable = SURGERY.create_parameter(self, shape, dtype, settings)
        return found

    def iter_parameters(self) -> Any:
        """The parameters of this block, one after the other."""
        return iter(self.all_parameters())

    def _find_var_recursive(self, name: str) -> Variable | None:
        """The variable of that name in this block or one around it; None where there is none."""
        if name in self.vars:
            return self.vars[name]
        return None if self.parent is None else self.parent._find_var_recursive(name)

    def _var_recursive(self, name: str) -> Variable:
        """Likewise; raises ArgumentError where there is none."""
        found = self._find_var_recursive(name)
        if found is None:
            raise ArgumentError(f"no variable is named {name!r} in this block and those around it")
        return found
