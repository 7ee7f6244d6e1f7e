"""The statements of the grammar. Every loop has a counter of its own that nothing else writes, so programs end."""

from __future__ import annotations

from collections.abc import Callable

from .grammar import Scope, Writer, rule

MAX_DEPTH = 4
BOUND = {
    "vec": 10, "scalar": 6, "pyint": 4, "int": 2, "list": 2, "pyfloat": 2, "flag": 2, "buf": 2, "wide": 1,
    "pybool": 1, "dict": 1, "mat": 1, "pair": 1, "ints": 0.5, "mask": 0.5, "state": 0.7, "box": 0.7, "func": 0.7,
}  # fmt: skip
"""How often new variables are of each kind."""

Fill = Callable[[Scope], None]


def block(writer: Writer, scope: Scope, at_most: int = 3, then: Fill | None = None) -> None:
    """Write an indented block of statements, with what `then` adds at its end."""
    writer.indent += 1
    before = len(writer.lines)
    ended = False
    for _ in range(writer.random.randint(1, at_most)):
        if writer.budget <= 0 or ended:
            break
        ended = statement(writer, scope)
    if then is not None and not ended:
        then(scope)
    if len(writer.lines) == before:
        writer.line("pass")
    writer.indent -= 1


def statement(writer: Writer, scope: Scope) -> bool:
    """Write one statement; whether control leaves the block by it."""
    writer.budget -= 1
    kind = "nested" if scope.depth < MAX_DEPTH and writer.chance(0.42) else "simple"
    return writer.choose(kind, scope, 2) == "jump"


def condition(writer: Writer, scope: Scope) -> str:
    """Return a condition: mostly of a tensor."""
    return writer.expression("flag" if writer.chance(0.75) else "pybool", scope)


def bound_kind(writer: Writer) -> str:
    """Return the kind of a new variable."""
    return writer.random.choices(list(BOUND), list(BOUND.values()))[0]


def target(writer: Writer, scope: Scope, kind: str) -> str:
    """Return a variable to bind: one that exists, or a new one."""
    known = scope.writable(kind)
    return writer.pick(known) if known and writer.chance(0.6) else writer.fresh(kind[0])


@rule("simple", 8)
def assign(writer: Writer, scope: Scope, depth: int) -> str:
    """`name = expression`, kept small where it may repeat."""
    kind = bound_kind(writer)
    name = target(writer, scope, kind)
    value = writer.expression(kind, scope, depth + 1)
    if scope.loops and kind in {"vec", "scalar"} and writer.chance(0.7):
        value = f"{value} * 0.5" if writer.chance(0.5) else f"paddle.sin({value})"
    writer.line(f"{name} = {value}")
    scope.add(kind, name)
    return ""


@rule("simple", 2)
def assign_two(writer: Writer, scope: Scope, depth: int) -> str | None:
    """`a, b = ...`, often a swap."""
    names = scope.writable("vec")
    if len(names) < 2:
        return None
    a, b = writer.random.sample(names, 2)
    second = a if writer.chance(0.5) else writer.expression("vec", scope, depth)
    writer.line(f"{a}, {b} = {b}, {second}")
    return ""


@rule("simple", 2)
def augmented(writer: Writer, scope: Scope, depth: int) -> str | None:
    """`name += expression` and its like."""
    kind = writer.pick(("vec", "pyint", "scalar", "pyfloat", "int"))
    names = scope.writable(kind)
    if not names:
        return None
    operator = writer.pick(("+=", "-=", "*=") if kind in {"vec", "scalar"} else ("+=", "-="))
    value = writer.expression(kind, scope, depth - 1) if operator != "*=" else writer.pick(("0.5", "-0.5"))
    writer.line(f"{writer.pick(names)} {operator} {value}")
    return ""


def lines(name: str, weight: float, *texts: str) -> None:
    """Enter statements written as templates; `;` separates lines."""
    for text in texts:

        def make(writer: Writer, scope: Scope, depth: int, text: str = text) -> str | None:
            filled = writer.fill(text, scope, depth - 1)
            if filled is None:
                return None
            for line in filled.split("; "):
                writer.line(line)
            return ""

        rule("simple", weight, f"{name} {text}")(make)


lines(
    "write",
    0.5,
    "<buf!>[0] = <scalar>",
    "<buf!>[<pyint> % 3] = <pyfloat>",
    "<buf!>[<int> % 3] = <scalar>",
    "<buf!>[1:] = <pyfloat>",
    "<buf!>[<mask>] = <pyfloat>",
    "<buf!>[0] += <scalar>",
    "<buf!>.add_(<vec>)",
    "<buf!>[:2] = <vec>[1:3]",
)
lines(
    "list",
    0.5,
    "<list!>.append(<vec>)",
    "<list!>[-1] = <vec>",
    "<list!>[<pyint> % 2] = <vec>",
    "<list!>[0] += <vec>",
    "<list!>[0] = <list!>[0] * 0.5",
    "<list!>.insert(0, <vec>)",
    "<list!>.extend([<vec>])",
    "<list!>.reverse()",
)
lines("dict", 0.5, "<dict!>['a'] = <vec>", "<dict!>['c'] = <vec>", "<dict!>.update(b=<vec>)")
lines("dict", 0.4, "<dict!>.setdefault('d', <vec>)", "<dict!>.pop('c', None)", "<dict!>['b'] += <vec>")
lines("object", 0.6, "<state!>.h = <vec>", "<state!>.n += 1", "<state!>.h = <state!>.h * 0.5 + <vec>")
lines("object", 0.6, "<box!>.value = <vec>", "<box!>.add(<vec>)", "<box!>.items.append(<vec>)", "<box!>.count += 1")
lines("object", 0.4, "<box!>.doubled = <vec>", "setattr(<box!>, 'value', <vec>)", "<box!>.nested['k'] = <vec>")
lines("print", 0.4, "print('here')", "print('n', <pyint> > 1)")
lines("assert", 0.3, "assert <pyint> > -9, 'never'", "assert <scalar> < 1e9")


@rule("simple", 0.5)
def pop(writer: Writer, scope: Scope, depth: int) -> str | None:
    """Take from a list that has enough."""
    names = scope.names.get("list")
    if not names:
        return None
    xs, name = writer.pick(names), writer.fresh("v")
    writer.line(f"{name} = {xs}.pop({writer.pick(('', '0', '-1'))}) if len({xs}) > 1 else {xs}[0]")
    scope.add("vec", name)
    return ""


@rule("simple", 0.4)
def unpack(writer: Writer, scope: Scope, depth: int) -> str:
    """`first, *rest = ...`."""
    first, rest = writer.fresh("v"), writer.fresh("rest")
    writer.line(f"{first}, *{rest} = [{', '.join(writer.expression('vec', scope, 1) for _ in range(3))}]")
    scope.add("vec", first)
    scope.add("list", rest)
    return ""


@rule("simple", 0.5)
def alias(writer: Writer, scope: Scope, depth: int) -> str | None:
    """A second name for something mutable."""
    kind = writer.pick(("list", "dict", "state", "buf", "box"))
    names = scope.names.get(kind)
    if not names:
        return None
    name = writer.fresh(kind[0])
    writer.line(f"{name} = {writer.pick(names)}")
    scope.add(kind, name)
    return ""


@rule("simple", 3)
def leave_loop(writer: Writer, scope: Scope, depth: int) -> str | None:
    """`break` or `continue`, alone or under a condition."""
    if not scope.loops or scope.in_finally:
        return None
    word = writer.pick(("break", "continue", "break"))
    if writer.chance(0.15):
        writer.line(word)
        return "jump"
    writer.line(f"if {condition(writer, scope)}:")
    writer.line(f"    {word}")
    return ""


@rule("simple", 1.5)
def leave_function(writer: Writer, scope: Scope, depth: int) -> str | None:
    """`return` under a condition."""
    if not scope.returns or scope.in_finally or not scope.depth:
        return None
    if writer.chance(0.15):
        writer.line(returned(writer, scope))
        return "jump"
    writer.line(f"if {condition(writer, scope)}:")
    writer.line(f"    {returned(writer, scope)}")
    return ""


def returned(writer: Writer, scope: Scope) -> str:
    """Return a `return` statement of the function's kinds."""
    values = [writer.expression(kind, scope, 2) for kind in scope.returns]
    return f"return {', '.join(values)}"


@rule("nested", 6)
def branch(writer: Writer, scope: Scope, depth: int) -> str:
    """if / elif / else; sometimes each branch binds one new variable that lives on."""
    born = (writer.fresh("y"), writer.pick(("vec", "scalar", "list", "pyint"))) if writer.chance(0.3) else None

    def bear(inner: Scope) -> None:
        if born is not None:
            writer.line(f"{born[0]} = {writer.expression(born[1], inner)}")

    writer.line(f"if {condition(writer, scope)}:")
    block(writer, scope.child(), then=bear)
    if writer.chance(0.3):
        writer.line(f"elif {condition(writer, scope)}:")
        block(writer, scope.child(), then=bear)
    if born is not None or writer.chance(0.55):
        writer.line("else:")
        block(writer, scope.child(), then=bear)
    if born is not None:
        scope.add(born[1], born[0])
    return ""


def loop_else(writer: Writer, scope: Scope) -> None:
    """Sometimes an `else` after the loop."""
    if writer.chance(0.25):
        writer.line("else:")
        block(writer, scope.child(), 2)


@rule("nested", 3)
def while_loop(writer: Writer, scope: Scope, depth: int) -> str:
    """`while` that a condition or its counter ends."""
    turn = writer.fresh("turn")
    limit = writer.random.randint(1, 4)
    writer.line(f"{turn} = 0")
    holds = condition(writer, scope)
    forms = [f"{turn} < {limit} and {holds}", f"{holds} and {turn} < {limit}", f"{turn} < {limit}", "True"]
    form = writer.random.choices(forms, [3, 3, 1, 2])[0]
    writer.line(f"while {form}:")
    inner = scope.child(loops=scope.loops + 1)
    writer.line(f"    {turn} += 1")
    if form == "True":
        writer.line(f"    if {turn} > {limit}:")
        leave = f"return {', '.join(writer.leaf(k, inner) for k in scope.returns)}"
        writer.line(f"        {leave if scope.returns and not scope.in_finally and writer.chance(0.2) else 'break'}")
    inner.add("pyint", turn)
    inner.fixed = scope.fixed | {turn}
    block(writer, inner)
    loop_else(writer, scope)
    return ""


ITERABLES = {
    "range({n})": ("pyint",),
    "range({n}, -1, -1)": ("pyint",),
    "range(0, 5, 2)": ("pyint",),
    "range(<int> % 4)": ("pyint",),
    "range(<pyint> % 3, <int> % 5)": ("pyint",),
    "range(3, <int> % 3, -1)": ("pyint",),
    "<vec>": ("scalar",),
    "<mat>": ("vec",),
    "<list!>[:3]": ("vec",),
    "tuple(<list!>)": ("vec",),
    "reversed(<list!>[:3])": ("vec",),
    "enumerate(<vec>)": ("pyint", "scalar"),
    "enumerate(<list!>[:3], 1)": ("pyint", "vec"),
    "zip(<vec>, <vec>)": ("scalar", "scalar"),
    "zip(<list!>, range(3))": ("vec", "pyint"),
    "list(<dict!>.items())": ("key", "vec"),
    "<dict!>.values()": ("vec",),
    "(v * 0.5 for v in <list!>[:2])": ("vec",),
    "map(<func>, <list!>[:2])": ("vec",),
    "countdown({n})": ("pyint",),
    "[(<vec>, <scalar>), (<vec>, <scalar>)]": ("vec", "scalar"),
}


@rule("nested", 5)
def for_loop(writer: Writer, scope: Scope, depth: int) -> str | None:
    """`for` over something short."""
    form = writer.pick(tuple(ITERABLES))
    source = writer.fill(form.replace("{n}", str(writer.random.randint(0, 4))), scope, 1)
    if source is None:
        return None
    writer.used[f"for:{form}"] += 1
    inner = scope.child(loops=scope.loops + 1)
    names = []
    for kind in ITERABLES[form]:
        names.append(writer.fresh(kind[0]))
        if kind != "key":
            inner.add(kind, names[-1])
    inner.fixed = scope.fixed | set(names)
    writer.line(f"for {', '.join(names)} in {source}:")
    block(writer, inner)
    loop_else(writer, scope)
    return ""


@rule("nested", 0.8)
def guarded(writer: Writer, scope: Scope, depth: int) -> str:
    """try / finally, or try / except around something that a Python condition raises."""
    writer.line("try:")
    inner = scope.child()
    if writer.chance(0.5):
        block(writer, inner, 2)
        writer.line("finally:")
        block(writer, scope.child(in_finally=True), 1)
        return ""
    test = writer.expression("pybool", scope)

    def fail(_: Scope) -> None:
        writer.line(f"if {test}:")
        writer.line("    raise ValueError('planned')")

    block(writer, inner, 2, then=fail)
    writer.line(f"except {writer.pick(('ValueError', '(ValueError, KeyError)', 'Exception'))}:")
    block(writer, scope.child(), 2)
    return ""


@rule("nested", 0.5)
def without_gradients(writer: Writer, scope: Scope, depth: int) -> str:
    """A block under no_grad."""
    writer.line("with paddle.no_grad():")
    block(writer, scope.child(), 2)
    return ""


@rule("nested", 0.7)
def match_statement(writer: Writer, scope: Scope, depth: int) -> str:
    """match on a Python number, a pair or a list."""
    subject, patterns = writer.random.choice(
        [
            ("pyint", ["0 | 1", "2 if {flag}", "int()"]),
            ("pair", ["Pair(first={v}, second={s}) if {s} > 0.2", "Pair({v}, {s})"]),
            ("list", ["[{v}, _]", "[{v}, *_]"]),
        ]
    )
    writer.line(f"match {writer.expression(subject, scope, 1)}:")
    writer.indent += 1
    for pattern in patterns:
        inner = scope.child()
        names = {"v": writer.fresh("v"), "s": writer.fresh("s"), "flag": writer.expression("flag", scope, 1)}
        writer.line(f"case {pattern.format(**names)}:")
        for kind, stem in (("vec", "v"), ("scalar", "s")):
            if f"{{{stem}}}" in pattern:
                inner.add(kind, names[stem])
        block(writer, inner, 2)
    writer.indent -= 1
    return ""


@rule("nested", 0.9)
def closure(writer: Writer, scope: Scope, depth: int) -> str:
    """A function inside, that reads and sometimes writes what is outside; it is called at once."""
    name, a = writer.fresh("inner"), writer.fresh("a")
    shared = scope.writable("vec") + scope.writable("pyint")
    outer = [n for n in shared if n not in scope.names.get("global", ())]
    writer.line(f"def {name}({a}, gain=0.5):")
    inner = scope.child(loops=0, returns=("vec",), base=a, in_finally=False, fixed=frozenset(every(scope)))
    if outer and writer.chance(0.5):
        changed = writer.pick(outer)
        writer.line(f"    nonlocal {changed}")
        inner.fixed -= {changed}
    inner.names["vec"] = [*inner.names.get("vec", []), a]
    block(writer, inner, 3, then=lambda s: writer.line(f"return {a} * gain + {writer.expression('vec', s, 1)}"))
    out = writer.fresh("v")
    writer.line(f"{out} = {name}({writer.expression('vec', scope, 1)})")
    scope.add("vec", out)
    return ""


def every(scope: Scope) -> list[str]:
    """Return all names of a scope."""
    return [name for names in scope.names.values() for name in names]


@rule("simple", 0.12)
def maybe_unset(writer: Writer, scope: Scope, depth: int) -> str:
    """A variable born in one branch only, and used later."""
    name = writer.fresh("maybe")
    writer.line(f"if {condition(writer, scope)}:")
    writer.line(f"    {name} = {writer.expression('vec', scope, 1)}")
    scope.add("vec", name)
    return ""


@rule("simple", 0.12)
def planned_failure(writer: Writer, scope: Scope, depth: int) -> str:
    """An exception that a Python condition raises."""
    writer.line(f"if {writer.expression('pybool', scope)}:")
    writer.line("    raise KeyError('planned')")
    return ""
