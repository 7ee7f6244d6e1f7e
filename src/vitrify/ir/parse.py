"""Reading back what `ir.text` prints. The grammar is in docs/format.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..core.dtype import ALL, scalar_dtype
from ..core.errors import InternalError
from ..core.meta import FrameMeta, ListMeta, Meta, Ref
from ..core.source import Loc
from ..ops.registry import get_op
from .attributes import map_blocks
from .names import resume_names
from .program import Block, Literal, Operator, Program, Variable
from .text import FORWARD, grad_expected, has_gradients
from .tokens import STRING, Tokens, number, unquote

MAX_DEPTH = 64
_DTYPES = {dtype.name: dtype for dtype in ALL}
_LOC = re.compile(
    rf"""(?P<file>{STRING}|[^\s"\#<>]+?):(?P<line>\d+)(?::(?P<col>\d+)-(?P<end_col>\d+))?
    (?:[ ]in[ ](?P<function>{STRING}|[^\s"\#]+))?(?:[ ]<-[ ]|$)""",
    re.VERBOSE,
)


def parse_program(text: str) -> Program:
    """The Program that `str(program)` or `program.to_string()` shows.

    Locations come back as far as the comments tell them. Run `ir.verify.verify` to check what a person has edited.
    Raises FileFormatError with the line where the text stops making sense.

    >>> print(parse_program('''
    ... program
    ... block 0 (%x : float32[-1, 2]) -> (%x) {}
    ... '''), end="")
    program
    <BLANKLINE>
    block 0 (%x : float32[-1, 2]) -> (%x) {
    }
    """
    return _Parser(Tokens(text)).program()


# --- programs --------------------------------------------------------------------------------------------------------


@dataclass
class _Parser:
    tokens: Tokens
    result: Program = field(default_factory=Program)
    blocks: dict[int, Block] = field(default_factory=dict)
    functions: dict[str, Block] = field(default_factory=dict)
    depth: int = 0

    def program(self) -> Program:
        self.tokens.take("program")
        if self.tokens.has("{"):
            self.tokens.take("random_seed")
            self.tokens.take("=")
            self.result.random_seed = self.tokens.integer("the random seed")
            self.tokens.take("}")
        while self.tokens.peek().text in ("block", "function"):
            self.top_level()
        if self.tokens.peek().kind != "end":
            self.tokens.fail("'block' or the end")
        return self.finish()

    def top_level(self) -> None:
        """A block by itself, or a function."""
        name = self.function_name() if self.tokens.has("function") else ""
        if name:
            self.tokens.take("=")
        self.tokens.take("block")
        number = self.tokens.integer("the block's number")
        inside = self.known_block(self.tokens.integer("a block's number")) if self.tokens.has("in") else None
        if name in self.functions:
            self.tokens.fail(f"a new name: @{name} is defined already")
        block = self.block(number, inside)
        if name:
            block.name = name
            self.functions[name] = block

    def function_name(self) -> str:
        self.tokens.take("@")
        return self.tokens.name("a function's name") or self.tokens.fail("a function's name")

    def finish(self) -> Program:
        if sorted(self.blocks) != list(range(len(self.blocks))) or not self.blocks:
            self.tokens.fail(f"blocks numbered from 0 on without gaps, not {sorted(self.blocks)}")
        self.result.blocks[:] = [self.blocks[i] for i in range(len(self.blocks))]
        for block in self.result.blocks:
            for operator in block.ops:
                operator.attrs = {k: map_blocks(self.linked, v) for k, v in operator.attrs.items()}
        resume_names(self.result)
        return self.result

    def linked(self, value: Any) -> Block:
        """The block that a `^number` or `@name` stood for, now that all are known."""
        if isinstance(value, _FunctionName):
            return self.functions.get(value.name) or self.tokens.fail(f"a function @{value.name}")
        return self.known_block(value.index) if isinstance(value, _BlockNumber) else value

    def known_block(self, index: int) -> Block:
        return self.blocks.get(index) or self.tokens.fail(f"a block above, which ^{index} is not")

    def block(self, index: int, parent: Block | None) -> Block:
        """From the signature to the closing brace."""
        if index in self.blocks:
            self.tokens.fail(f"another number than {index}, which is taken")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.tokens.fail(f"at most {MAX_DEPTH} nested blocks")
        block = self.blocks[index] = Block(self.result, index, parent)
        self.tokens.take("(")
        self.tokens.items(lambda: self.input(block), ")")
        self.tokens.take("->")
        self.tokens.take("(")
        outputs = self.tokens.items(self.output, ")")
        self.tokens.take("{")
        while not self.tokens.has("}"):
            self.statement(block)
        block.outputs = [None if name is None else self.known(block, name) for name in outputs]
        self.depth -= 1
        return block

    def input(self, block: Block) -> None:
        captured = self.tokens.has("^")
        name = outer = self.variable_name()
        if not captured and self.tokens.has("="):
            self.tokens.take("^")
            captured, outer = True, self.variable_name()
        var = self.typed(block, name, grad=False)
        block.inputs.append(var)
        if captured:
            if block.parent is None:
                self.tokens.fail("no capture, since no block encloses this one")
            block.captures[self.known(block.parent, outer)] = var

    def output(self) -> str | None:
        return None if self.tokens.has("None") else self.variable_name()

    def statement(self, block: Block) -> None:
        """`var ...`, or one operator with its blocks."""
        tokens = self.tokens
        outputs: list[_Output] = []
        if tokens.peek().kind == "var":
            outputs = self.outputs(block)
            tokens.take("=")
        name = tokens.name("an operator or '}'")
        if name == "var" and not outputs and tokens.peek().kind == "var":
            self.typed(block, self.variable_name(), grad=False)
            return
        self.operator(block, name, outputs)

    def outputs(self, block: Block) -> list[_Output]:
        """Outputs by name, with what is said of new ones: they become variables once the inputs are known."""
        found: list[_Output] = []
        while True:
            name = self.variable_name()
            found.append((name, self.annotation() if self.tokens.peek().text == ":" else None))
            if not self.tokens.has(","):
                return found

    def operator(self, block: Block, name: str, outputs: list[_Output]) -> None:
        tokens = self.tokens
        try:
            op = get_op(name)
        except InternalError as err:
            tokens.fail(f"an operator that exists ({err.message})")
        tokens.take("(")
        operator = Operator(op, tuple(tokens.items(lambda: self.operand(block), ")")), (), {})
        if tokens.has("{"):
            operator.attrs.update(tokens.items(self.attribute, "}"))
        operator.role = tokens.name("the operator's role") if tokens.has("@") else FORWARD
        operator.locs = _locs(tokens.comment())
        while tokens.peek().kind in ("word", "string") and self.is_region():
            region = tokens.name("an attribute")
            tokens.take("=")
            tokens.take("block")
            operator.attrs[region] = self.block(tokens.integer("the block's number"), block)
        grad = grad_expected(operator)
        operator.outputs = tuple(self.made(block, name, said, grad) for name, said in outputs)
        block.ops.append(operator)

    def is_region(self) -> bool:
        """Whether `name = block` stands here."""
        return self.tokens.ahead(3)[1:] == ["=", "block"]

    def made(self, block: Block, name: str, annotation: _Annotation | None, grad: bool) -> Variable:
        if annotation is None:
            return self.known(block, name)
        return self.declare(block, name, annotation, grad and has_gradients(annotation.meta))

    # -- variables --

    def variable_name(self) -> str:
        return unquote(self.tokens.kind("var", "a variable")[1:])

    def known(self, block: Block, name: str) -> Variable:
        return block.vars[name] if name in block.vars else self.tokens.fail(f"a variable defined before, not %{name}")

    def typed(self, block: Block, name: str, grad: bool) -> Variable:
        return self.declare(block, name, self.annotation(), grad)

    def annotation(self) -> _Annotation:
        self.tokens.take(":")
        return _Annotation(self.meta(), frozenset(w for w in _WORDS if self.tokens.has(w)))

    def declare(self, block: Block, name: str, annotation: _Annotation, grad: bool) -> Variable:
        if name in block.vars:
            self.tokens.fail(f"a new name: %{name} is defined already")
        words = annotation.words
        grad = "grad" in words or (grad and "nograd" not in words)
        var = Variable(block, name, annotation.meta, stop_gradient=not grad, persistable="persistable" in words)
        if "parameter" in words:
            var.__dict__["is_parameter_"] = True
        block.vars[name] = var
        return var

    def meta(self) -> Any:
        tokens = self.tokens
        if tokens.has("list"):
            tokens.take("<")
            self.deeper()
            item = self.meta()
            self.depth -= 1
            tokens.take(">")
            return ListMeta(item)
        if tokens.has("frame"):
            return FrameMeta()
        return self.tensor_meta(tokens.kind("word", "a type such as float32[2, 3]"))

    def tensor_meta(self, dtype: str) -> Meta:
        if dtype not in _DTYPES:
            self.tokens.fail(f"a dtype, not {dtype}")
        self.tokens.take("[")
        return Meta(tuple(self.tokens.items(lambda: self.tokens.integer("a size"), "]")), _DTYPES[dtype])

    def operand(self, block: Block) -> Any:
        if self.tokens.peek().kind == "var":
            return self.known(block, self.variable_name())
        value = self.value()
        if value is None:
            return None
        if not isinstance(value, (bool, int, float, complex)):
            self.tokens.fail("a variable or a number")
        if not self.tokens.has(":"):
            return Literal(value, scalar_dtype(value))
        dtype = self.tokens.kind("word", "a dtype")
        return Literal(value, _DTYPES[dtype]) if dtype in _DTYPES else self.tokens.fail(f"a dtype, not {dtype}")

    # -- attributes --

    def attribute(self) -> tuple[str, Any]:
        name = self.tokens.name("an attribute")
        self.tokens.take("=")
        return name, self.value()

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.tokens.fail(f"at most {MAX_DEPTH} levels of nesting")

    def value(self) -> Any:
        self.deeper()
        token = self.tokens.next()
        is_word = token.kind in ("mark", "word")  # of which one may read as the name of a kind
        reader = _MEANINGS.get(token.text, _word) if is_word else _KINDS.get(token.kind, _word)
        found = reader(self, token.text)
        self.depth -= 1
        return found


@dataclass(frozen=True)
class _Annotation:
    """What follows the colon of a variable."""

    meta: Any
    words: frozenset[str]


_Output = tuple[str, "_Annotation | None"]
_WORDS = ("parameter", "persistable", "grad", "nograd")


@dataclass(frozen=True)
class _BlockNumber:
    """`^3` until block 3 is known."""

    index: int
    captures = ()  # what `attributes.is_block` looks for


@dataclass(frozen=True)
class _FunctionName:
    """`@name` until all functions are known."""

    name: str
    captures = ()


def _function(parser: _Parser, text: str) -> Any:
    parser.tokens.back()
    return _FunctionName(parser.function_name())


def _word(parser: _Parser, text: str) -> Any:
    """A dtype, or the meta that starts with one."""
    if text in _DTYPES:
        return parser.tensor_meta(text) if parser.tokens.peek().text == "[" else _DTYPES[text]
    parser.tokens.back()
    return parser.tokens.fail("a value")


def _tuple(parser: _Parser, text: str) -> Any:
    return tuple(parser.tokens.items(parser.value, ")"))


def _slice(parser: _Parser, text: str) -> slice:
    parser.tokens.take("(")
    parts = parser.tokens.items(parser.value, ")")
    return slice(*parts) if len(parts) == 3 else parser.tokens.fail("slice(start, stop, step)")


def _complex(parser: _Parser, text: str) -> complex:
    parser.tokens.take("(")
    parts = parser.tokens.items(parser.value, ")")
    if len(parts) != 2 or not all(isinstance(p, float) for p in parts):
        parser.tokens.fail("complex(real, imag)")
    return complex(*parts)


def _whole_meta(parser: _Parser, text: str) -> Any:
    parser.tokens.back()
    return parser.meta()


def _ref(parser: _Parser, text: str) -> Ref:
    index, _, item = text[1:].rstrip("]").partition("[")
    return Ref(int(index), int(item) if item else None)


_KINDS: dict[str, Callable[[_Parser, str], Any]] = {
    "number": lambda parser, text: number(text),
    "string": lambda parser, text: unquote(text),
    "ref": _ref,
    "block": lambda parser, text: _BlockNumber(int(text[1:])),
}
_MEANINGS: dict[str, Callable[[_Parser, str], Any]] = {
    "None": lambda parser, text: None,
    "True": lambda parser, text: True,
    "False": lambda parser, text: False,
    "...": lambda parser, text: ...,
    "(": _tuple,
    "[": lambda parser, text: parser.tokens.items(parser.value, "]"),
    "slice": _slice,
    "complex": _complex,
    "list": _whole_meta,
    "frame": _whole_meta,
    "@": _function,
}


# --- locations -------------------------------------------------------------------------------------------------------


def _locs(comment: str) -> tuple[Loc, ...]:
    """The locations in a comment; none when it says something else."""
    found, at = [], 0
    while at < len(comment):
        match = _LOC.match(comment, at)
        if match is None:
            return ()
        col, end_col = match["col"], match["end_col"]
        found.append(
            Loc(
                unquote(match["file"]),
                int(match["line"]),
                unquote(match["function"] or "<module>"),
                None if col is None else int(col),
                None if end_col is None else int(end_col),
            )
        )
        at = match.end()
    return tuple(found)
