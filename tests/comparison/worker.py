"""Runs differential cases in one framework: names come in, one a line; a line of JSON goes out for each.

Started as `python -m tests.comparison.worker vitrify` (or `paddle`), each in its own environment.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from importlib import import_module
from typing import Any


def pretend(framework: str) -> None:
    """Make `import vitrify` give this framework, with all that it has loaded."""
    import_module(framework)
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == framework:
            sys.modules["vitrify" + name.removeprefix(framework)] = module


def verdict(table: str, name: str) -> dict[str, Any]:
    """Return whether eager and compiled agree on a case, and else how they differ; `eager` is what eager raised."""
    tables = import_module("tests.end_to_end.tables")
    try:
        case = next(case for case in tables.cases_of(table) if case.name == name)
    except ImportError as err:
        return {"passed": False, "why": f"import: {err}", "eager": type(err).__name__}
    return compared(case)


def compared(case: Any) -> dict[str, Any]:
    """Return the verdict on a case that could be imported."""
    differential = import_module("tests.end_to_end.differential")
    options = dict(case.options)
    gradients = options.pop("gradients", True)
    shared, strict = options.pop("shared", False), options.pop("strict", False)
    raised = None
    try:
        static = import_module("vitrify").jit.to_static(case.function, full_graph=True)
        for eager, compiled in differential.outcomes(case.function, static, case.calls, shared):
            raised = raised or (eager.error and type(eager.error).__name__)
            if not gradients:
                eager.gradients = compiled.gradients = ()
            found = differential.difference(eager, compiled, strict)
            if found is not None:
                return {"passed": False, "why": found, "eager": raised}
    except Exception as err:  # noqa: BLE001 - whatever it is, this case did not pass
        return {"passed": False, "why": f"error: none against {type(err).__name__}: {err}", "eager": raised}
    return {"passed": True, "why": "", "eager": raised}


def main(framework: str) -> None:
    """Answer every line until there are no more."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the framework prints natively
    pretend(framework)
    for line in sys.stdin:
        question = line.split()  # an empty line asks whether the framework is there
        print(json.dumps(verdict(*question) if question else {}), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
