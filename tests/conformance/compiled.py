"""Call cases eagerly and compiled, for sizes that only a run knows or for fixed ones, and compare: one meaning.

    python -m tests.conformance.compiled --every 10
    python -m tests.conformance.compiled --only paddle.concat,Tensor.sum
    python -m tests.conformance.compiled --tables generated --every 100 --fixed

No other framework is needed. What cannot be told before a run is listed in `UNDECIDED`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import vitrify
from tests.conformance.__main__ import chosen_cases
from tests.conformance.compare import compare
from tests.conformance.execution import Record, error_record, found_at, run
from tests.conformance.generated.layers import LayerCall
from tests.conformance.spec import Case
from tests.conformance.subgraphs import Subgraph

# Patterns of cases -> why a program for unknown sizes gives something else than eager code.
UNDECIDED = {
    "*squeeze*": "which sizes are 1, and so how many dimensions are left, only a run knows",
    "*histogramdd*": "how many results there are follows from a size",
    "*unbind(*axis=-1)": "how many results there are follows from a size",
    "*tolist(*": "a list of unknown length has no items to show",
    "*clip(float32[], min=float32[1]*": "a bound with a dimension may have any size",
    "*linalg.solve(float32[2,3,3]*": "a stack of vectors and a matrix differ in their sizes alone",
    "Tensor.clear_grad*": "the gradient of an argument is refused by name: it is not part of a program",
    "Tensor.copy_(*": "a change under no_grad of an argument that wants a gradient is refused by name",
    "*tensordot*": "a size that does not fit is an error of the run",
    "paddle.tile(*int64 *": "how many dimensions there are follows from the length of a tensor",
    "paddle.roll(*int64 *": "how many shifts there are follows from the length of a tensor",
    "paddle.topk(*int64 *": "k with a dimension may have any size",
    **{f"paddle.{name}(int64 *": "how many dimensions there are follows from the length of a tensor" for name in (
        "empty", "full", "ones", "zeros",
    )},
    "*conv?d_transpose(*padding='SAME'*": "the padding follows from the sizes, and gradients need it",
}  # fmt: skip


class Compiled:
    """vitrify, whose functions of tensors are compiled for unknown sizes before they are called."""

    def __init__(self, case: Case, fixed: bool = False) -> None:
        self._case = case
        self._fixed = fixed
        self.itself = vitrify

    def __getattr__(self, name: str) -> Any:
        return getattr(vitrify, name)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """What the case's function gives for these arguments, inside a program."""
        leaves: list[Any] = []
        tree = _without_tensors((list(args), kwargs), leaves)
        api, form = self._case.api, self._case.form

        def body(*tensors: Any) -> Any:
            given, named = _with_tensors(tree, tensors)
            if form == "function":
                return found_at(vitrify, api)(*given, **named)
            return getattr(given[0], api.removeprefix("Tensor."))(*given[1:], **named)

        return self.called(body, *leaves) if leaves else body()

    def called(self, body: Any, *leaves: Any) -> Any:
        """What a function or Layer gives for these tensors, inside a program."""
        if not all(isinstance(x, vitrify.Tensor) for x in leaves):  # a Layer called with something else
            return body(*leaves)
        sizes = [list(x.shape) if self._fixed else [None] * x.ndim for x in leaves]
        specs = [
            vitrify.static.InputSpec(shape, x.dtype, stop_gradient=x.stop_gradient) for shape, x in zip(sizes, leaves)
        ]
        function = vitrify.jit.to_static(body, input_spec=specs, full_graph=True)
        result = function(*leaves)
        built = getattr(function, "forward", function).program_cache.entries()
        if not self._fixed and any(_is_known(key, sizes) for key, _ in built):
            raise AssertionError("a program for unknown sizes failed, so one for those of the call was built")
        return result


def _is_known(key: Any, sizes: Sequence[Sequence[None]]) -> bool:
    """Whether a program was built for given sizes although all were to be left open."""
    return any(-1 not in spec.shape for spec, wanted in zip(key.specs, sizes) if wanted)


class _Place:
    """Where a tensor stood."""

    def __init__(self, index: int) -> None:
        self.index = index


def _mapped(value: Any, leaf: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(item, leaf) for item in value)
    if isinstance(value, dict):
        return {name: _mapped(item, leaf) for name, item in value.items()}
    if isinstance(value, slice):
        return slice(*(_mapped(part, leaf) for part in (value.start, value.stop, value.step)))
    return leaf(value)


def _without_tensors(value: Any, leaves: list[Any]) -> Any:
    def leaf(item: Any) -> Any:
        if not isinstance(item, vitrify.Tensor):
            return item
        leaves.append(item)
        return _Place(len(leaves) - 1)

    return _mapped(value, leaf)


def _with_tensors(tree: Any, tensors: Sequence[Any]) -> Any:
    return _mapped(tree, lambda item: tensors[item.index] if isinstance(item, _Place) else item)


def run_compiled(case: Case, fixed: bool = False) -> Record:
    """The record of a case whose function, or Layer, is compiled."""
    framework = Compiled(case, fixed)
    if case.row.call is None:
        row = replace(case.row, call=lambda paddle, *args, **kwargs: framework.call(*args, **kwargs))
        case = replace(case, row=row)
    try:
        return run(framework, case)
    except Exception as err:  # noqa: BLE001 - whatever it is, it is what happened
        return error_record(err)


def differences(cases: Sequence[tuple[str, int, Case]], fixed: bool = False) -> Iterator[tuple[Case, str, str]]:
    """The cases in which compiled code does something else: case, kind of difference, what differs."""
    for _, _, case in cases:
        if case.form not in ("function", "method") or not isinstance(case.row.call, (LayerCall, Subgraph, type(None))):
            continue
        if any(fnmatchcase(case.text.replace("[", "("), p.replace("[", "(")) for p in UNDECIDED):
            continue
        vitrify.seed(0)
        eager = run(vitrify, case)
        vitrify.seed(0)
        compiled = run_compiled(case, fixed)
        if eager["kind"] == compiled["kind"] == "error" or eager["kind"] == "absent":
            continue
        verdict = compare(compiled, eager, case.row.rtol)
        if verdict.differs:
            yield case, verdict.kind, " ".join(verdict.why.split())


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="tests.conformance.compiled", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="APIs, comma-separated, * allowed (default: all)")
    parser.add_argument("--tables", default="", help="tables, comma-separated (default: all)")
    parser.add_argument("--every", type=int, default=1, help="run every Nth case only")
    parser.add_argument("--fixed", action="store_true", help="compile for the sizes given, not for any")
    chosen = parser.parse_args(argv)
    count = 0
    for case, kind, why in differences(list(chosen_cases(chosen.only, chosen.tables))[:: chosen.every], chosen.fixed):
        print(f"{kind}: {case.text}\n    {why[:400]}", flush=True)
        count += 1
    print(f"{count} cases differ")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
