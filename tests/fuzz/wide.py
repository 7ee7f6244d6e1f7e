"""Rules for seeds from `WIDE_FROM` on: held tensors, views, gradient flags, None, identity, itertools, texts."""

from __future__ import annotations

from .grammar import Scope, Writer, rule, templates

# What a comprehension goes through is a variable (`!`): there Python takes no walrus.
templates(
    "vec",
    "(<vec> * max([(v.item(), n) for n, v in enumerate(<vec!>)])[0])",
    "(<vec> + sorted([(v.abs().item(), -n) for n, v in enumerate(<vec!>)])[-1][0])",
    "sorted([(v.sum(), v) for v in <list!>], key=lambda p: (p[0] > 0.1, p[0]))[0][1]",
    "(lambda *vs: [v for v in vs if v is not None][-1])(<vec> if <flag> else None, <vec>)",
    "paddle.clip(<vec>, <scalar> if <flag> else None, None)",
    "paddle.clip(<vec>, max=None if <flag> else <scalar>)",
    "(<vec> if <vec!> is <vec!> else <vec>)",
    "paddle.to_tensor(<vec>)",
    weight=1.5,
    wide=True,
)
templates("scalar", "<box!>.spare.sum()", "<box!>.spare.detach().mean()", weight=2, wide=True)
templates("pyint", "<box!>.spare.ndim", "len(<box!>.spare.shape)", weight=2, wide=True)
templates("pybool", "<buf!>.stop_gradient", "<vec!>.stop_gradient", "(<vec!> is <vec!>)", weight=1.5, wide=True)

STATEMENTS = (
    "<box!>.spare.unsqueeze_(0); <box!>.spare.squeeze_()",
    "<box!>.spare.unsqueeze_(-1); {v} = <box!>.spare.ndim + len(<box!>.spare); <box!>.spare.squeeze_()  # pyint",
    "<box!>.spare.add_(<scalar>)",
    "<box!>.spare[<pyint> % 3] = <pyfloat>",
    "{v} = <box!>.spare[0:1]; {v}.add_(<scalar>); {w} = {v} + <vec>  # vec",
    "{w} = <buf!>[1:]; {w}.add_(<scalar>)",
    "{w} = <buf!>.reshape([-1, 1]); <buf!>.add_(<vec>); {v} = {w}.sum(axis=1)  # vec",
    "{v} = <vec> * 1; {v}.stop_gradient = <pybool>  # vec",
    "{v} = <vec> * 1; {w} = {v} + <vec>; {v}.detach_(); {v}.add_({w})  # vec",
    "{v} = [{w} * 0.5 for {i} in <list!> if ({w} := {i} + <vec>).sum() > <pyfloat>]; {v}.append(<vec>)  # list",
    "{w} = <scalar>; {v} = <vec> if any(({w} := {i}) > <pyfloat> for {i} in <vec!>) else <vec> * {w}  # vec",
    "{v} = list(chain([<vec>], [{i} for {i} in <list!> if {i}.sum() > <pyfloat>]))  # list",
    "{v} = list(accumulate([{i} for {i} in <list!> if <flag>] + [<vec>], lambda p, q: p * 0.5 + q))  # list",
    "{v} = {{'1': <vec>, '2': <vec>}}.get(str(<pyint>), <vec>)  # vec",
    "{v} = <vec> if f'{{<pyint>}}' in ('1', '2') else <vec>  # vec",
    "{v} = (3, 0, 1, 2).index(<pyint> % 3)  # pyint",
    "{w} = <scalar>; {v} = <vec> * ({w} if all(({w} := {i}) < <scalar> for {i} in <vec!>) else 0.5)  # vec",
)


def _statement(text: str) -> None:
    def make(writer: Writer, scope: Scope, depth: int) -> str | None:
        names = {stem: writer.fresh(stem) for stem in "vwi"}
        filled = writer.fill(text.format(**names), scope, depth - 1)
        if filled is None:
            return None
        code, _, kind = filled.partition("  # ")
        for line in code.split("; "):
            writer.line(line)
        if kind:
            scope.add(kind, names["w"] if f"{names['w']} = {names['v']}" in code else names["v"])
        return ""

    rule("simple", 1.0, f"wide {text}", wide=True)(make)


for _text in STATEMENTS:
    _statement(_text)


@rule("nested", 2.0, wide=True)
def optional(writer: Writer, scope: Scope, depth: int) -> str:
    """A variable that is None on some paths, asked about before it is used."""
    name, found = writer.fresh("m"), writer.fresh("r")
    writer.line(f"{name} = None")
    writer.line(f"for _ in range({writer.random.randint(1, 2)}):")
    writer.line(f"    if {writer.expression('flag', scope, 1)}:")
    writer.line(f"        {name} = {writer.expression('vec', scope, 1)}")
    writer.line(f"{found} = {writer.expression('vec', scope, 1)} if {name} is None else {name} * 0.5")
    scope.add("vec", found)
    return ""


@rule("nested", 1.5, wide=True)
def stopped_on_a_path(writer: Writer, scope: Scope, depth: int) -> str:
    """stop_gradient set where a tensor decides."""
    name = writer.fresh("r")
    writer.line(f"{name} = {writer.expression('vec', scope, 1)} * 1")
    writer.line(f"if {writer.expression('flag', scope, 1)}:")
    writer.line(f"    {name}.stop_gradient = {writer.pick(('True', 'True', 'False'))}")
    scope.add("vec", name)
    return ""
