"""Every op in the registry is exercised by some case."""

import vitrify  # noqa: F401  (registers every op)
from tests.ops.test_cases import CASES
from vitrify.ops.registry import all_ops
from vitrify.testing import ops_of

# Ops with tests of their own kind, because one call in isolation says little about them.
ELSEWHERE = {
    "if": "tests/autodiff",
    "while": "tests/autodiff",
}


def test_every_op_is_in_a_case():
    used = set().union(*map(ops_of, CASES))
    missing = sorted(op.name for op in all_ops() if op.name not in used and op.name not in ELSEWHERE)
    assert not missing
