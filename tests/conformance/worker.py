"""Runs cases in one framework: `table number`, or a pickled case, comes in, one a line; a pickled record goes out.

Started as `python -m tests.conformance.worker vitrify` (or `paddle`), each in its own environment.
"""

from __future__ import annotations

import base64
import os
import pickle
import sys
import warnings
from importlib import import_module

from tests.conformance.execution import run
from tests.conformance.spec import Case
from tests.conformance.tables import cases_in


def asked(question: list[str]) -> Case:
    """Return the case that a question is about."""
    if len(question) == 1:
        case: Case = pickle.loads(base64.b64decode(question[0]))
        return case
    return cases_in(question[0])[int(question[1])]


def main(name: str) -> None:
    """Answer every line until there are no more; an empty line asks whether the framework is there."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the framework prints natively
    framework = import_module(name)
    for line in sys.stdin:
        question = line.split()
        record = run(framework, asked(question)) if question else {}
        content = pickle.dumps(record)
        out.write(len(content).to_bytes(8, "little") + content)
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
