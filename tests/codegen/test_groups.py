"""The programs of tables of tests/ops, with their gradients: groups as machine code against operators one by one."""

import importlib

import numpy as np
import pytest

from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.testing.paths import Call, metas_of, record

# Those with most elementwise operators; rtol and atol by the size of an element.
TABLES = ("cases_activation", "cases_elementwise", "cases_losses", "cases_norm", "cases_unary")
CLOSE = {8: (1e-10, 1e-12), 4: (4e-6, 1e-6)}


def outputs(case, unknown):
    """What a case's program gives with kernels and without, each result as an array."""
    call = Call(case)
    recorded = record(call.on, metas_of(call.arrays, unknown), case.grad)
    wanted = [*recorded.outputs, *[g for g in recorded.grads if g is not None]]
    rng = np.random.default_rng(0)
    values = [np.asarray(v) for v in recorded.run(call.arrays, [])[0]] if not recorded.cts else []
    shapes = [v.meta.shape for v in recorded.cts]
    if any(-1 in shape for shape in shapes):
        return values, values
    arrays = [*call.arrays, *[rng.uniform(-1, 1, v.meta.shape).astype(v.meta.dtype.np) for v in recorded.cts]]
    block = recorded.program.global_block()
    found = []
    for choice in ("always", "never"):
        core = lower(block, [*recorded.inputs, *recorded.cts], wanted, options=ExecutionOptions(native=choice))
        found.append([np.asarray(v) for v in core(*[a.copy() for a in arrays])])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_programs_give_the_same_with_kernels(table):
    wrong = []
    for case in importlib.import_module(f"tests.ops.{table}").CASES:
        if not case.static or "random" in case.name:
            continue
        for a, b in zip(*outputs(case, unknown=False)):
            if a.dtype != b.dtype or a.shape != b.shape:
                wrong.append(f"{case}: {a.dtype}{a.shape}, expected {b.dtype}{b.shape}")
            elif a.dtype.kind == "f" and not np.allclose(a, b, *CLOSE[a.itemsize], equal_nan=True):
                wrong.append(f"{case}: {a} != {b}")
    assert not wrong, "\n".join(wrong)
