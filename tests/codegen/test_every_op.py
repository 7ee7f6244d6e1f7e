"""Every elementwise operator that the tables of tests/ops record, forward and backward: native against NumPy."""

import ml_dtypes
import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.every_op import samples
from vitrify.codegen.emit import Emitter
from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.llvm import host
from vitrify.codegen.native import compiled
from vitrify.codegen.scalars import LlvmScalars
from vitrify.core.dtype import as_dtype
from vitrify.core.meta import Meta
from vitrify.ir.rows import is_pointwise
from vitrify.ir.ssa_blocks import graph_of
from vitrify.nn import functional as F
from vitrify.ops.registry import all_ops
from vitrify.ops.scalar import BINARY, SPECIAL, UFUNCS, WITHOUT_CODE, ArrayScalars
from vitrify.testing.paths import record

# Ops that compute what no instruction or function of libm does, or that raise errors for some integers.
WITHOUT = {
    "digamma", "erfinv", "gammainc", "gammaincc", "gcd", "i0", "i0e", "i1", "i1e", "lcm", "lgamma", "polygamma",
}  # fmt: skip
OF_INTEGERS = {"floor_divide", "mod", "pow", "trunc_divide"}


def distance(found, wanted):
    """The largest difference, in units of the last place of the expected number."""
    info = ml_dtypes.finfo(wanted.dtype)
    a, b = found.astype(np.longdouble), wanted.astype(np.longdouble)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        units = np.abs(a - b) / (np.maximum(np.abs(b), float(info.tiny)) * float(info.eps))
    return float(np.max(np.where(same, 0, units), initial=0))


def check(sample):
    """What is wrong with the kernel of an operator, as text; nothing if it is right."""
    expected = sample.expected()
    (found,) = compiled(sample.block())(*sample.arrays)
    found = np.asarray(found)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind not in "fV":
        return "" if np.array_equal(found, expected) else f"{found} != {expected}"
    if isinstance(sample.op.scalar, str):
        far = distance(found, expected)
        return "" if far <= 4.5 else f"{far} units in the last place"
    # An expression may take the difference of numbers that are almost equal, which shows what they were rounded to.
    eps = float(ml_dtypes.finfo(expected.dtype).eps)
    a, b = found.astype(float), expected.astype(float)
    return "" if np.allclose(a, b, rtol=8 * eps, atol=16 * eps, equal_nan=True) else f"{a} != {b}"


def problems(dtype):
    """What is wrong with any operator of the tables in this dtype, and those that have no native form."""
    wrong, refused = [], set()
    for key, sample in samples(dtype).items():
        if any(v.dtype.kind == "c" for v in (*sample.arrays, sample.expected())):
            continue
        try:
            problem = check(sample)
        except NoNativeForm:
            integral = all(v.dtype.kind in "biu" for v in sample.arrays)
            refused.add(sample.op.name + (" of integers" if integral else ""))
            wrong += [f"{key}: groups would take it in"] if is_pointwise(graph_of(sample.block()).ops[0]) else []
        else:
            wrong += [f"{key}: {problem}"] if problem else []
    return wrong, refused


def has_code(name):
    try:
        return getattr(LlvmScalars(Emitter(8), host()), name) is not None
    except NoNativeForm:
        return False


def test_which_primitives_have_machine_code():
    """What fusion goes by is what code generation has."""
    names = {*UFUNCS, *SPECIAL, *BINARY, "where", *[n for n in vars(ArrayScalars) if not n.startswith("_")]}
    assert {name for name in names if not has_code(name)} == WITHOUT_CODE


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_each_operator_gives_what_numpy_gives(dtype):
    wrong, refused = problems(dtype)
    assert not wrong, "\n".join(wrong)
    expected = WITHOUT | {f"{name} of integers" for name in OF_INTEGERS | WITHOUT}
    assert {name for name in refused if name != "nextafter"} <= expected


ZEROS = np.array([-0.0, 0.0] * 16)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])  # NumPy takes the other zero in float16
@pytest.mark.parametrize(
    "fn", [F.relu, F.relu6, F.hardtanh, F.thresholded_relu, lambda x: x.clip(0, 1), lambda x: x.abs().maximum(x * 1)]
)
def test_extremes_of_zeros_have_the_sign_that_numpy_gives(fn, dtype):
    recorded = record(lambda v: fn(v[0]), [Meta(ZEROS.shape, as_dtype(dtype))])
    block = recorded.program.global_block()
    block.outputs = list(recorded.outputs)
    x = ZEROS.astype(as_dtype(dtype).np)
    wanted = fn(paddle.to_tensor(x)).numpy()
    (found,) = compiled(block)(x)
    assert np.array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.slow
def test_the_tables_reach_every_elementwise_op():
    reached = {sample.op.name for sample in samples("float64").values()}
    assert {op.name for op in all_ops() if op.elementwise and op.scalar is not None} <= reached
