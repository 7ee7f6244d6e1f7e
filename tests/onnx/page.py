"""The tables of docs/onnx.md: `python -m tests.onnx.page` writes them, test_forms compares them."""

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import vitrify
from vitrify.onnx.operator_table import operator
from vitrify.onnx.reasons import reason_without_form
from vitrify.onnx.same_ops import SAME
from vitrify.onnx.table import FORMS
from vitrify.onnx.write import has_form
from vitrify.ops.registry import all_ops

PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"
START, END = "<!-- tables: tests/onnx/page.py -->\n", "<!-- end of tables -->\n"
# Ops that tests and benchmarks define for themselves.
FOREIGN = ("_for_tests", "_for_benchmarks")


# Every op is registered, those of packages that are imported at first use too.
for _module in walk_packages(vitrify.__path__, "vitrify."):
    if _module.name.split(".")[1] not in ("testing", "compat", "device"):
        import_module(_module.name)


def ops():
    return [op for op in all_ops() if not op.name.endswith(FOREIGN)]


def form_of(op):
    own = FORMS.get(op)
    if own is not None:
        return (own.__doc__ or "").strip().split("\n")[0].rstrip(".")
    direct = op.maps.get("onnx")
    return f"{direct}, or its scalar expression" if direct and not op.attrs else "its scalar expression"


def tables():
    written = [f"| `{op.name}` | {form_of(op)} |" for op in ops() if has_form(op)]
    refused = [f"| `{op.name}` | {reason_without_form(op)} |" for op in ops() if not has_form(op)]
    read = sorted({*SAME, *operator.names()})
    return "\n".join(
        [
            START.rstrip(),
            f"### Ops that are exported ({len(written)})",
            "",
            "| op | as |",
            "|---|---|",
            *written,
            "",
            f"### Ops without an ONNX form ({len(refused)})",
            "",
            "| op | why |",
            "|---|---|",
            *refused,
            "",
            f"### Operators that are read ({len(read)})",
            "",
            ", ".join(f"`{name}`" for name in read) + ".",
            "",
            END,
        ]
    )


def with_tables(text):
    before, _, rest = text.partition(START)
    return before + tables() + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
