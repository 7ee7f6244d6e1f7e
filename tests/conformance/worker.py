"""Runs cases in one framework: `table number` comes in, one a line; a pickled record goes out behind its length.

Started as `python -m tests.conformance.worker vitrify` (or `paddle`), each in its own environment.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from importlib import import_module

from tests.conformance.execution import run
from tests.conformance.tables import cases_in


def main(name: str) -> None:
    """Answer every line until there are no more; an empty line asks whether the framework is there."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the framework prints natively
    framework = import_module(name)
    for line in sys.stdin:
        question = line.split()
        record = run(framework, cases_in(question[0])[int(question[1])]) if question else {}
        content = pickle.dumps(record)
        out.write(len(content).to_bytes(8, "little") + content)
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
