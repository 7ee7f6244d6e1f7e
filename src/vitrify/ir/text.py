"""Programs as text that a person can read and `ir.parse.parse_program` reads back.

    program

    block 0 (%x : float32[-1, 4], %w : float32[4, 2] parameter grad) -> (%if_0) {
      %matmul_0 : float32[-1, 2] = matmul(%x, %w) {transpose_x=False, transpose_y=False}  # model.py:41
      %sum_0 : float32[] = sum(%matmul_0) {axis=None}                                     # model.py:42
      %greater_0 : bool[] = greater(%sum_0, 0.0)                                          # model.py:42
      %if_0 : float32[-1, 2] = if(%greater_0, %matmul_0)                                  # model.py:42
        then = block 1 (^%matmul_0 : float32[-1, 2] grad) -> (%relu_0) {
          %relu_0 : float32[-1, 2] = relu(%matmul_0)                                      # model.py:43
        }
        orelse = block 2 (^%matmul_0 : float32[-1, 2] grad) -> (%matmul_0) {
        }
    }

A type is followed by what is special about the variable. `grad` means that gradients flow into it; after `=` of an
operator it is left out where it follows from the inputs, and `nograd` marks the opposite. `^%b` among a block's inputs
is the enclosing block's %b (`%a = ^%b` where it has another name inside). A function, which calls itself or is called
from several places, stands by itself, `function @power = block 3 (...) -> (...) {`, and attributes name it: `@power`.
`docs/format.md` has the grammar.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import DType, scalar_dtype
from ..core.meta import FrameMeta, ListMeta, Meta, Ref
from ..core.source import Loc
from ..ops.registry import NoGradient
from .attributes import blocks_of, is_block

if TYPE_CHECKING:  # `program` prints itself through this module, so this module must not need it to be imported
    from .program import Block, Operator, Program, Variable

FORWARD = "forward"  # the role of an operator that nobody marked
WIDTH = 110  # where signatures wrap; comments are aligned at most there
_NAME = re.compile(r"[^\W\d][\w.@/]*")
_WORD = re.compile(r"[^\W\d][\w.]*")
_FILE = re.compile(r"[^\s\"#<>]+")


@dataclass(frozen=True)
class Style:
    """What is shown: no locations, the innermost one by file name, or all frames with whole paths and columns."""

    locs: bool = True
    details: bool = False


def program_text(program: Program, style: Style = Style()) -> str:
    """The whole program as text, ending in a line break."""
    printer = _Printer(style, _inline_blocks(program))
    seed = f" {{random_seed={program.random_seed}}}" if program.random_seed else ""
    printer.line(f"program{seed}")
    for block in program.blocks:
        if block not in printer.inline:
            printer.line("")
            printer.block(block, _block_head(block))
    return printer.text()


def block_text(block: Block, style: Style = Style()) -> str:
    """One block as text, with those inside of its operators, ending in a line break."""
    printer = _Printer(style, _inline_blocks(block.program))
    printer.block(block, _block_head(block))
    return printer.text()


def operator_text(operator: Operator, style: Style = Style(locs=False)) -> str:
    """One operator as text, without its blocks' contents."""
    return _operator_head(operator, block_reference) + _comment(operator.locs, style)


def _block_head(block: Block) -> str:
    if block.name:
        return f"function {block_reference(block)} = block {block.index} "
    return f"block {block.index}{'' if block.parent is None else f' in {block.parent.index}'} "


def block_reference(block: Block) -> str:
    """How an attribute refers to a block that is printed elsewhere: functions by name, others by number."""
    return f"@{word(block.name)}" if block.name else f"^{block.index}"


def _inline_blocks(program: Program) -> frozenset[Block]:
    """The blocks printed inside their operator: attributes of exactly one operator, which stands in their parent."""
    uses = Counter(b for block in program.blocks for op in block.ops for b in blocks_of(op.attrs))
    direct = {b for block in program.blocks for op in block.ops for b in op.blocks.values() if b.parent is block}
    return frozenset(b for b in direct if uses[b] == 1)


# --- lines -----------------------------------------------------------------------------------------------------------


@dataclass
class _Printer:
    style: Style
    inline: frozenset[Block]
    lines: list[tuple[str, str]] = field(default_factory=list)
    depth: int = 0

    def line(self, text: str, comment: str = "") -> None:
        self.lines.append(("  " * self.depth + text if text else "", comment))

    def text(self) -> str:
        """All lines, comments aligned in one column."""
        column = min(max((len(text) for text, comment in self.lines if comment), default=0), WIDTH)
        return "".join(f"{text:<{column}}{comment}\n" if comment else f"{text}\n" for text, comment in self.lines)

    def block(self, block: Block, head: str) -> None:
        self.signature(head, [_input_text(block, var) for var in block.inputs], _names(block.outputs))
        self.depth += 1
        for var in _declared(block):
            self.line(f"var {_typed(var, grad_default=False)}")
        for operator in block.ops:
            self.operator(operator)
        self.depth -= 1
        self.line("}")

    def signature(self, head: str, inputs: list[str], outputs: str) -> None:
        whole = f"{head}({', '.join(inputs)}) -> ({outputs}) {{"
        if len(whole) + 2 * self.depth <= WIDTH or len(inputs) < 2:
            self.line(whole)
            return
        self.line(f"{head}(")
        for item in inputs:
            self.line(f"    {item},")
        self.line(f") -> ({outputs}) {{")

    def operator(self, operator: Operator) -> None:
        regions = {name: block for name, block in operator.blocks.items() if block in self.inline}
        text = _operator_head(operator, lambda block: "" if block in self.inline else block_reference(block))
        self.line(text, _comment(operator.locs, self.style))
        self.depth += 1
        for name, block in _in_order(operator, regions):
            self.block(block, f"{word(name)} = block {block.index} ")
        self.depth -= 1


def _declared(block: Block) -> list[Variable]:
    """The variables that neither enter the block nor are made by one of its operators: parameters and states."""
    inputs = set(block.inputs)
    made = {var for operator in block.ops for var in operator.outputs if not var.persistable}
    return [var for var in block.vars.values() if var not in inputs and var not in made]


def _input_text(block: Block, var: Variable) -> str:
    outer = next((o for o, i in block.captures.items() if i is var), None)
    if outer is None:
        return _typed(var, grad_default=False)
    if outer.name == var.name:
        return f"^{_typed(var, grad_default=False)}"
    return _typed(var, grad_default=False, source=f" = ^{variable_name(outer)}")


def _in_order(operator: Operator, attrs: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """Attributes in the order of the op's signature."""
    order = {name: i for i, name in enumerate(operator.op.attrs)}
    return sorted(attrs.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))


# --- operators -------------------------------------------------------------------------------------------------------


def _operator_head(operator: Operator, block_text: Callable[[Block], str]) -> str:
    grad = grad_expected(operator)
    outputs = ", ".join(_output_text(var, grad) for var in operator.outputs)
    shown = [(k, attr_text(v, block_text)) for k, v in _in_order(operator, operator.attrs)]
    attrs = ", ".join(f"{word(k)}={text}" for k, text in shown if text)
    parts = [f"{outputs} =" if outputs else ""]
    parts.append(f"{word(operator.op.name)}({', '.join(_operand_text(v) for v in operator.inputs)})")
    parts.append(f"{{{attrs}}}" if attrs else "")
    parts.append("" if operator.role == FORWARD else f"@{word(operator.role)}")
    return " ".join(part for part in parts if part)


def _output_text(var: Variable, grad: bool) -> str:
    """Persistable variables are declared, so writing one shows its name only."""
    return variable_name(var) if var.persistable else _typed(var, grad and has_gradients(var.meta))


def grad_expected(operator: Operator) -> bool:
    """Whether gradients flow into the outputs unless somebody said otherwise: the op has one and an input wants it."""
    return not isinstance(operator.op.vjp, NoGradient) and any(
        v is not None and not v.stop_gradient for v in operator.inputs
    )


def has_gradients(meta: Any) -> bool:
    """Whether values of this kind mostly have gradients: the text says where integers do, and where others do not."""
    while isinstance(meta, ListMeta):
        meta = meta.item
    return not isinstance(meta, Meta) or meta.dtype.is_inexact


def _typed(var: Variable, grad_default: bool, source: str = "") -> str:
    words = [meta_text(var.meta)]
    words += [word for word in ("parameter", "persistable") if getattr(var, _FLAGS[word])]
    if grad_default == var.stop_gradient:
        words.append("nograd" if grad_default else "grad")
    return f"{variable_name(var)}{source} : {' '.join(words)}"


_FLAGS = {"parameter": "is_parameter", "persistable": "persistable"}


def _operand_text(value: Any) -> str:
    if value is None:
        return "None"
    if hasattr(value, "name"):
        return variable_name(value)
    text = attr_text(value.value)
    return text if value.dtype is scalar_dtype(value.value) else f"{text}:{value.dtype.name}"


def _names(values: Iterable[Variable | None]) -> str:
    return ", ".join("None" if v is None else variable_name(v) for v in values)


def variable_name(var: Variable) -> str:
    """`%name`, the name in quotes where it isn't a plain word."""
    return f"%{var.name}" if _NAME.fullmatch(var.name) else f"%{json.dumps(var.name)}"


def word(name: str) -> str:
    """An op's or attribute's name, in quotes where it isn't a plain word."""
    return name if _WORD.fullmatch(name) else json.dumps(name)


# --- values ----------------------------------------------------------------------------------------------------------


def meta_text(meta: Any) -> str:
    """`float32[-1, 10]`, or `list<...>` of one."""
    if isinstance(meta, ListMeta):
        return f"list<{meta_text(meta.item)}>"
    if meta is None or isinstance(meta, FrameMeta):
        return str(meta)
    return f"{meta.dtype.name}[{', '.join(map(str, meta.shape))}]"


def attr_text(value: Any, block_text: Callable[[Block], str] = block_reference) -> str:
    """An attribute value; `<type>` for one that no program should hold, which does not read back."""
    writer = _ATTRS.get(type(value))
    if writer is not None:
        return writer(value)
    if isinstance(value, (list, tuple)):
        items = ", ".join(attr_text(v) for v in value)
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if isinstance(value, np.generic):
        return attr_text(value.item())
    return block_text(value) if is_block(value) else f"<{type(value).__name__}>"


_ATTRS: dict[type, Callable[[Any], str]] = {
    type(None): repr,
    bool: repr,
    int: repr,
    float: repr,
    complex: lambda v: f"complex({v.real!r}, {v.imag!r})",
    str: json.dumps,
    DType: lambda v: str(v.name),
    Ref: str,
    slice: lambda v: f"slice({attr_text(v.start)}, {attr_text(v.stop)}, {attr_text(v.step)})",
    type(...): lambda v: "...",
    Meta: meta_text,
    ListMeta: meta_text,
    FrameMeta: meta_text,
}


# --- locations -------------------------------------------------------------------------------------------------------


def _comment(locs: tuple[Loc, ...], style: Style) -> str:
    if not (locs and style.locs):
        return ""
    if style.details:
        return "  # " + " <- ".join(_loc_text(loc) for loc in locs)
    return f"  # {_file_text(locs[0].file.replace(chr(92), '/').rsplit('/', 1)[-1])}:{locs[0].line}"


def _loc_text(loc: Loc) -> str:
    columns = "" if loc.col is None or loc.end_col is None else f":{loc.col}-{loc.end_col}"
    return f"{_file_text(loc.file)}:{loc.line}{columns} in {_file_text(loc.function, plain=_FUNCTION)}"


_FUNCTION = re.compile(r"[^\s\"#]+")


def _file_text(name: str, plain: re.Pattern[str] = _FILE) -> str:
    return name if plain.fullmatch(name) else json.dumps(name)
