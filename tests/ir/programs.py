"""Programs for tests: a small one with a branch, random ones, and what it means that two are equal."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from vitrify.core import dtype as dtypes
from vitrify.core.dtype import bool_, float32, int64
from vitrify.core.meta import ListMeta, Meta, Ref
from vitrify.core.source import Loc
from vitrify.eager.tensor import Tensor  # noqa: F401  # importing eager registers every op family
from vitrify.ir.builder import Builder, building
from vitrify.ir.program import Block, Literal, Operator, Program, Variable
from vitrify.ir.regions import align_captures
from vitrify.ops.control_flow import if_op, while_op
from vitrify.ops.registry import get_op

HERE = (Loc("/home/ada/model.py", 41, "forward", 8, 17), Loc("/home/ada/train.py", 12))


def branching() -> Program:
    """matmul, then relu or not: parameters, captures, literals, locations."""
    program = Program()
    builder = Builder(program)
    block = program.global_block()
    x = block.add_input(Meta((-1, 4), float32), "x")
    w = block.add_input(Meta((4, 2), float32), "w", stop_gradient=False)
    w.__dict__["is_parameter_"] = True
    block.create_var(Meta((), int64), "steps", persistable=True)
    with building(builder), builder.at(HERE):
        y = x.matmul(w)
        positive = y.sum() > 0.0
        with builder.sub_block() as then:
            then.outputs = [y.tanh()]
        with builder.sub_block() as orelse:
            orelse.outputs = [builder.value(y)]
        captured = align_captures([then, orelse])
        block.outputs = list(if_op(positive, *captured, then=then, orelse=orelse))
    return program


# --- equality --------------------------------------------------------------------------------------------------------


def equal(a: Program, b: Program, *, locs: bool = True) -> bool:
    """Whether two programs say the same; independent of text, files and hashes, which are tested with it."""
    return a.random_seed == b.random_seed and [_block(x, locs) for x in a.blocks] == [_block(x, locs) for x in b.blocks]


def _block(block: Block, locs: bool) -> dict[str, Any]:
    # By identity: numbers of a program refuse to be hashed by code outside the framework.
    made = {id(v) for op in block.ops for v in op.outputs if not v.persistable} | set(map(id, block.inputs))
    return {
        "index": block.index,
        "parent": None if block.parent is None else block.parent.index,
        "vars": {name: _variable(var) for name, var in block.vars.items()},
        "declared in order": [name for name, var in block.vars.items() if id(var) not in made],
        "inputs": [_name(var, block) for var in block.inputs],
        "outputs": [None if var is None else _name(var, block) for var in block.outputs],
        "captures": {(outer.block.index, outer.name): _name(inner, block) for outer, inner in block.captures.items()},
        "ops": [
            (
                op.op.name,
                op.role,
                [_operand(value, block) for value in op.inputs],
                [_name(var, block) for var in op.outputs],
                {name: _attr(value) for name, value in op.attrs.items()},
                op.locs if locs else None,
            )
            for op in block.ops
        ],
    }


def _variable(var: Variable) -> tuple[Any, ...]:
    return var.name, var.meta, var.stop_gradient, var.persistable, var.is_parameter


def _name(var: Variable, block: Block) -> str:
    assert block.vars[var.name] is var
    return var.name


def _operand(value: Any, block: Block) -> Any:
    if isinstance(value, Literal):
        return "literal", repr(value.value), type(value.value), value.dtype
    return None if value is None else _name(value, block)


def _attr(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value), [_attr(item) for item in value]
    if isinstance(value, slice):
        return slice, [_attr(item) for item in (value.start, value.stop, value.step)]
    return ("block", value.index) if isinstance(value, Block) else (type(value), repr(value))


# --- random programs -------------------------------------------------------------------------------------------------

FLOATS = st.floats(allow_nan=True)
DIMS = st.one_of(st.integers(-1, 5), st.just(2**40))
NAMES = st.one_of(
    st.from_regex(r"[a-z_][a-z0-9_.@/]{0,8}", fullmatch=True),
    st.text(min_size=1, max_size=6),
    st.sampled_from(["", "var"]),
).filter(bool)
METAS = st.recursive(
    st.builds(Meta, st.lists(DIMS, max_size=3).map(tuple), st.sampled_from(dtypes.ALL)),
    lambda inner: inner.map(ListMeta),
    max_leaves=2,
)
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), FLOATS, st.complex_numbers(), st.text(), st.sampled_from(dtypes.ALL),
    st.builds(Ref, st.integers(0, 9), st.none() | st.integers(0, 9)), st.just(...), METAS,
)  # fmt: skip
ATTRS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.tuples(inner, inner, inner).map(lambda parts: slice(*parts)),
    ),
    max_leaves=5,
)
NUMBERS = st.one_of(st.booleans(), st.integers(), FLOATS, st.complex_numbers())
LITERALS = st.builds(Literal, NUMBERS, st.sampled_from(dtypes.ALL))
LOCS = st.lists(
    st.builds(
        Loc,
        st.text(min_size=1, max_size=8) | st.just("/a b/model.py"),
        st.integers(1, 10**6),
        st.text(min_size=1, max_size=6) | st.just("<lambda>"),
        st.integers(0, 99),
        st.integers(0, 99),
    ),
    max_size=3,
).map(tuple)


@st.composite
def valid_programs(draw: Any) -> Program:
    """Programs that a builder made: elementwise ops, reductions, reshapes to run-time sizes, branches and loops."""
    program = Program()
    builder = Builder(program)
    block = program.global_block()
    program.random_seed = draw(st.integers(0, 2**31))
    pool = [
        block.add_input(Meta(shape, float32), draw(NAMES), stop_gradient=draw(st.booleans()))
        for shape in draw(st.lists(st.sampled_from([(), (3,), (-1, 3), (2, 1)]), min_size=1, max_size=3))
    ]
    state = block.create_var(Meta((3,), float32), "state", persistable=True, stop_gradient=draw(st.booleans()))
    state.__dict__["is_parameter_"] = draw(st.booleans())
    with building(builder):
        _grow(draw, builder, pool, depth=0)
        with program.adding("optimize"):
            block.append(get_op("assign"), [pool[0]], [state], {})
            state.meta = pool[0].meta
    block.outputs = draw(st.lists(st.sampled_from(pool), max_size=3))
    return program


def _grow(draw: Any, builder: Builder, pool: list[Any], depth: int) -> None:
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(
            st.sampled_from(["unary", "binary", "scalar", "sum", "reshape", "if", "while"][: 7 if depth < 2 else 5])
        )
        x = draw(st.sampled_from(pool))
        with builder.at(draw(LOCS)):
            pool.extend(_STEPS[kind](draw, builder, pool, x, depth))


def _unary(draw: Any, builder: Builder, pool: list[Any], x: Any, depth: int) -> list[Any]:
    return [get_op(draw(st.sampled_from(["tanh", "exp", "neg"])))(x)]


def _binary(draw: Any, builder: Builder, pool: list[Any], x: Any, depth: int) -> list[Any]:
    return [x + x if draw(st.booleans()) else x * x]


def _scalar(draw: Any, builder: Builder, pool: list[Any], x: Any, depth: int) -> list[Any]:
    return [x + draw(st.one_of(FLOATS, st.integers(-5, 2**40), st.booleans()))]


def _sum(draw: Any, builder: Builder, pool: list[Any], x: Any, depth: int) -> list[Any]:
    return [x.sum(keepdim=draw(st.booleans()))]


def _reshape(draw: Any, builder: Builder, pool: list[Any], x: Any, depth: int) -> list[Any]:
    size = get_op("full")(shape=(), fill_value=1, dtype=int64)
    return [x.reshape([size, -1])]


def _if(draw: Any, builder: Builder, pool: list[Any], x: Any, depth: int) -> list[Any]:
    pred = get_op("full")(shape=(), fill_value=True, dtype=bool_)
    blocks = []
    for _ in range(2):
        with builder.sub_block() as block:
            inner = [x]
            _grow(draw, builder, inner, depth + 1)
            total = draw(st.sampled_from(inner)).sum()
            block.outputs = [total, builder.value(x) if draw(st.booleans()) else None]
        blocks.append(block)
    if all(block.outputs[1] is None for block in blocks):
        for block in blocks:
            block.outputs.pop()
    captured = align_captures(blocks)
    return list(if_op(pred, *captured, then=blocks[0], orelse=blocks[1]))


def _while(draw: Any, builder: Builder, pool: list[Any], x: Any, depth: int) -> list[Any]:
    """Carries x, writes a list of its sums; the caller gets x back (lists are no operands of ordinary ops)."""
    with builder.sub_block() as cond:
        formal = cond.add_input(x.meta, "carried", stop_gradient=x.stop_gradient)
        cond.outputs = [formal.sum() < 9.0]
    with builder.sub_block() as body:
        formal = body.add_input(x.meta, "carried", stop_gradient=x.stop_gradient)
        inner = [formal]
        _grow(draw, builder, inner, depth + 1)
        total = draw(st.sampled_from(inner)).sum()
        body.outputs = [formal * 2.0, total]
    captured = align_captures([cond, body])
    results = while_op(x, *captured, cond=cond, body=body, n_carried=1, n_xs=0, reverse=False)
    return [results[0]]


_STEPS = {
    "unary": _unary, "binary": _binary, "scalar": _scalar, "sum": _sum, "reshape": _reshape, "if": _if, "while": _while,
}  # fmt: skip


@st.composite
def any_programs(draw: Any) -> Program:
    """Programs that hold anything that can be written, well formed or not: odd names, any attribute, loose blocks."""
    program = Program()
    program.random_seed = draw(st.integers(-(2**62), 2**62))
    for _ in range(draw(st.integers(0, 3))):
        program.create_block(draw(st.sampled_from(program.blocks)))
    for block in program.blocks:
        _fill(draw, block)
    return program


def _declared(block: Block) -> list[Variable]:
    made = {id(var) for operator in block.ops for var in operator.outputs}
    return [var for var in block.vars.values() if id(var) not in made]


def _fill(draw: Any, block: Block) -> None:
    pool: list[Any] = [None]
    for _ in range(draw(st.integers(0, 3))):
        var = block.create_var(
            draw(METAS), draw(NAMES), stop_gradient=draw(st.booleans()), persistable=draw(st.booleans())
        )
        if draw(st.booleans()):
            var.__dict__["is_parameter_"] = True
        pool.append(var)
        if draw(st.booleans()):
            block.inputs.append(var)
            outer = _declared(block.parent) if block.parent is not None else []
            if outer and draw(st.booleans()):
                block.captures[draw(st.sampled_from(outer))] = var
    for _ in range(draw(st.integers(0, 3))):
        inputs = draw(st.lists(st.one_of(st.sampled_from(pool), LITERALS), max_size=3))
        count = draw(st.integers(0, 2))
        outputs = [block.create_var(draw(METAS), draw(NAMES), stop_gradient=draw(st.booleans())) for _ in range(count)]
        blocks = st.sampled_from(block.program.blocks)
        attrs = draw(st.dictionaries(NAMES, st.one_of(ATTRS, blocks, st.lists(blocks, max_size=2)), max_size=3))
        op = get_op(draw(st.sampled_from(["add", "reshape", "if"])))
        block.ops.append(Operator(op, tuple(inputs), tuple(outputs), attrs, draw(LOCS)))
        block.ops[-1].role = draw(st.sampled_from(["forward", "backward", "a role"]))
        pool += outputs
    block.outputs = draw(st.lists(st.sampled_from(pool), max_size=2))
