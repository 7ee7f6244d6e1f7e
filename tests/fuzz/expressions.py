"""The expressions of the grammar, by kind. Values stay small: products pass through bounded functions."""

from __future__ import annotations

from .grammar import Scope, Writer, rule, templates

templates(
    "vec",
    "(<vec> + <vec>)",
    "(<vec> - <vec>)",
    "(<vec> * <pyfloat>)",
    "(<vec> + <scalar>)",
    "paddle.tanh(<vec> * <vec>)",
    "paddle.sin(<vec>)",
    "(<vec> / (<vec>.abs() + 1.5))",
    "paddle.where(<mask>, <vec>, <vec>)",
    "paddle.clip(<vec>, -2.0, 2.0)",
    "paddle.maximum(<vec>, <vec>)",
    "(-<vec>)",
    "<mat>.sum(axis=0)",
    "<mat>[0]",
    "<mat>[<int> % 2]",
    "<wide>.astype('float32')",
    "(<vec> * <mask>.astype('float32'))",
    "(<vec> + <ints>.astype('float32'))",
    "(<vec> * (<vec>.sum() > 0).astype('float32'))",
    "(<vec> + <pyint>)",
    "(<buf> + <vec>)",
    "(<buf> * 0.5)",
)
templates(
    "vec",
    "<vec>.detach()",
    "paddle.stack(<list>).mean(axis=0)",
    "sum([v * 0.5 for v in <list!>], <vec>)",
    "sum((v for v in <list!>), <vec>)",
    "<list!>[0]",
    "<list!>[-1]",
    "<list!>[<pyint> % len(<list>)]",
    "<dict!>['a']",
    "<dict!>.get('b', <vec>)",
    "<pair!>.first",
    "<state!>.h",
    "<box!>.value",
    "<box!>.doubled",
    "<box!>.peek(<vec>)",
    "<func>(<vec>)",
    "(lambda v, w=<scalar>: v * 0.5 + w)(<vec>)",
    "scaled(<vec>)",
    "scaled(<vec>, by=<pyfloat>)",
    "scaled(*[<vec>, <pyfloat>])",
    "total(<vec>, <vec>, bias=<scalar>)",
    "total(*<list!>)",
    "limited(<vec>)",
    "limited(<vec>, <scalar>)",
    "applied(<func>, <vec>)",
    "reduce(lambda a, b: a * 0.5 + b, <list!>)",
    "next(iter(<list!>))",
    "max(<list!>, key=lambda v: v.sum())",
    weight=0.5,
)
templates("vec", "(<vec> if <flag> else <vec>)", "(<vec> if <pybool> else <vec>)", weight=2)
templates("mat", "(<mat> * 0.5)", "(<mat> + <vec>)", "paddle.stack([<vec>, <vec>])", "paddle.tanh(<mat>)", "(-<mat>)")
templates(
    "scalar",
    "<vec>.sum()",
    "<vec>.mean()",
    "<vec>.max()",
    "<vec>[0]",
    "<vec>[-1]",
    "<vec>[<int> % 3]",
    "<vec>[<pyint> % 3]",
    "(<scalar> + <scalar>)",
    "(<scalar> * <pyfloat>)",
    "paddle.sin(<scalar> * <scalar>)",
    "abs(<scalar>)",
    "min(<scalar>, <scalar>)",
    "max(<scalar>, <scalar>)",
    "(<scalar> if <flag> else <scalar>)",
    "<pair!>.second",
    "<mat>.mean()",
    "sum(v * 0.5 for v in <vec!>)",
    "(<scalar> + <pyint>)",
)
templates("wide", "(<wide> * 0.5)", "(<wide> + <vec>.astype('float64'))", "paddle.cos(<wide>)")
templates("int", "((<int> + <pyint>) % 7)", "((<int> * <int>) % 5)", "<ints>.sum()", "<ints>.max()", "(<int> // 2)")
templates("int", "(<int> if <flag> else <int>)", "<mask>.astype('int64').sum()", "paddle.clip(<int>, 0, 3)", "(-<int>)")
templates("ints", "((<ints> + <int>) % 5)", "<mask>.astype('int64')", "((<ints> * <pyint>) % 7)")
templates(
    "flag",
    "(<scalar> > <pyfloat>)",
    "(<scalar> < <scalar>)",
    "(<scalar> >= <pyfloat>)",
    "(<int> == <pyint>)",
    "(<int> > <pyint>)",
    "(<int> % 2 != 0)",
    "(-0.5 < <scalar> < <pyfloat>)",
    "(<scalar> < <scalar> < <scalar>)",
    "(<pyint> <= <int> <= 3)",
    "<mask>.any()",
    "<mask>.all()",
    "(<flag> and <flag>)",
    "(<flag> or <flag>)",
    "(<pybool> and <flag>)",
    "(<flag> or <pybool>)",
    "(not <flag>)",
    "any(v > 0.2 for v in <vec!>)",
    "all([v > -0.9 for v in <vec!>])",
    "(<flag> if <flag> else <flag>)",
)
templates("mask", "(<vec> > <pyfloat>)", "(<vec> < <vec>)", "(<mask> & <mask>)", "(~<mask>)", "(<ints> > 0)")
templates(
    "pyint",
    "((<pyint> + <pyint>) % 5)",
    "((<pyint> * 2) % 5)",
    "(-<pyint>)",
    "(<pyint> // 2)",
    "len(<list!>)",
    "<vec>.shape[0]",
    "min(<pyint>, <pyint>)",
    "abs(<pyint>)",
    "int(<pybool>)",
    "(<pyint> if <pybool> else <pyint>)",
    "<state!>.n",
    "len(<vec>)",
    "sum([n for n in range(<pyint> % 4)])",
    "len(<dict!>)",
)
templates("pyfloat", "(<pyfloat> * 0.5)", "((<pyfloat> + <pyint> * 0.25) * 0.5)", "float(<pyint>)", "abs(<pyfloat>)")
templates(
    "pybool",
    "(<pyint> > 1)",
    "(<pyint> % 2 == 0)",
    "(<pybool> and <pybool>)",
    "(<pybool> or <pybool>)",
    "(not <pybool>)",
    "(len(<list!>) > 2)",
    "('c' in <dict!>)",
    "(<pyint> in (1, 2))",
    "(0 <= <pyint> < 3)",
    "isinstance(<pyint>, int)",
    "(<state!> is None)",
)
templates(
    "list",
    "[<vec>, <vec>]",
    "[v * 0.5 for v in <list!>]",
    "[v for v in <list!> if <pybool>] + [<vec>]",
    "[<vec> for _ in range(2)]",
    "<list!>[:2]",
    "list(reversed(<list!>))",
    "[*<list!>, <vec>]",
    "(<list!> + [<vec>])",
    "list(<dict!>.values())",
    "list(map(<func>, <list!>))",
    "sorted(<list!>, key=lambda v: v.sum())",
    "[a + b for a, b in zip(<list!>, <list!>)]",
)
templates("dict", "{'a': <vec>, 'b': <vec>}", "dict(<dict!>, b=<vec>)", "{k: v * 0.5 for k, v in <dict!>.items()}")
templates("dict", "{**<dict!>, 'a': <vec>}")
templates("pair", "Pair(<vec>, <scalar>)", "<pair!>._replace(first=<vec>)", "Pair(*<pair!>)")
templates("state", "State(<vec> * 1, <pyint>)", "replace(<state!>, h=<vec>)")
templates("box", "Box(<vec>)")
templates("buf", "(<vec> + 0.25)", "<vec>.clone()", "paddle.zeros_like(<vec>)")
templates(
    "func", "(lambda v: v * <pyfloat>)", "(lambda v: v + <scalar>)", "paddle.tanh", "partial(scaled, by=<pyfloat>)"
)
templates("func", "(lambda v: v * 0.5 if v.sum() > 0 else -v)", "<box!>.peek", "limited")


@rule("vec", 0.5)
def walrus(writer: Writer, scope: Scope, depth: int) -> str | None:
    """Bind a name inside an expression and use it twice."""
    name = writer.fresh("w")
    return f"(({name} := {writer.expression('vec', scope, depth - 1)}) + {name} * 0.5)"
