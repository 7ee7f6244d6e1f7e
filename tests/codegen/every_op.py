"""Each elementwise operator of the programs that the tables of tests/ops record, alone in a block of its own."""

import functools
import importlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vitrify.core.dtype import as_dtype
from vitrify.core.errors import VitrifyError
from vitrify.core.meta import Meta
from vitrify.ir.dead_code import live_operators
from vitrify.ir.program import Block, Literal, Program, Variable
from vitrify.ops.registry import OpDef
from vitrify.runtime.instruction import pure_call
from vitrify.testing.paths import Call, metas_of, record

TABLES = sorted(path.stem for path in (Path(__file__).parent.parent / "ops").glob("cases_*.py"))


@dataclass(frozen=True)
class Sample:
    """One operator with arrays for its inputs: None and numbers as they stand in the program."""

    op: OpDef
    inputs: tuple
    attrs: tuple
    outputs: tuple

    def block(self) -> Block:
        """A closed block of this operator alone."""
        block = Program().global_block()
        inputs = []
        for value in self.inputs:
            if isinstance(value, np.ndarray):
                meta = Meta(value.shape, as_dtype(value.dtype))
                inputs.append(block.add_input(meta))
            else:
                inputs.append(value)
        outs = [block.create_var(meta) for meta in self.outputs]
        block.append(self.op, inputs, outs, dict(self.attrs))
        block.outputs = outs
        return block

    @property
    def arrays(self) -> list:
        """The inputs that are arrays."""
        return [v for v in self.inputs if isinstance(v, np.ndarray)]

    def expected(self):
        """What the op's own kernel gives."""
        return np.asarray(self.all_expected())

    def all_expected(self):
        """What the op's own kernel gives; a tuple of several outputs."""
        operands = [np.asarray(v.value, v.dtype.np) if isinstance(v, Literal) else v for v in self.inputs]
        with np.errstate(all="ignore"):
            return self.op.on_numpy(*operands, **dict(self.attrs))

    def _kind(self, array) -> str:
        return array.dtype.name if self.op.scalar is not None else f"{array.dtype.name}{array.shape}{array.strides}"

    @property
    def key(self) -> tuple:
        """What the instructions depend on; ranks do not count."""
        kinds = [self._kind(v) if isinstance(v, np.ndarray) else repr(v) for v in self.inputs]
        return self.op.name, *kinds, repr(self.attrs)


def is_elementwise(operator) -> bool:
    """Whether an operator has a scalar expression."""
    return operator.op.scalar is not None and not operator.ref_count


def is_in_programs(operator) -> bool:
    """Whether an operator has a native form in whole programs of its own, or is a view."""
    op = operator.op
    return (op.native is not None or (op.view and op.scalar is None)) and not operator.ref_count


def _samples_of(case, dtype, wanted) -> dict:
    call = Call(case)
    arrays = [a.astype(as_dtype(dtype).np) if a.dtype == np.float64 else a for a in call.arrays]
    recorded = record(call.on, metas_of(arrays), case.grad)
    found = {}
    kept = [*recorded.outputs, *[g for g in recorded.grads if g is not None]]
    live = live_operators(recorded.program.global_block(), kept)
    is_sized = all(v.meta.is_static for v in recorded.cts)
    if not is_sized or any(o.blocks for o in live) or not any(map(wanted, live)):
        return found
    rng = np.random.default_rng(0)
    values = dict(zip(map(id, recorded.inputs), arrays))
    for ct in recorded.cts:
        values[id(ct)] = rng.uniform(-1, 1, ct.meta.shape).astype(ct.meta.dtype.np)
    with np.errstate(all="ignore"):
        for operator in live:
            inputs = [values[id(v)] if isinstance(v, Variable) else v for v in operator.inputs]
            if wanted(operator):
                metas = tuple(v.meta for v in operator.outputs)
                sample = Sample(operator.op, tuple(inputs), tuple(operator.attrs.items()), metas)
                found.setdefault(sample.key, sample)
            given = [np.asarray(v.value, v.dtype.np) if isinstance(v, Literal) else v for v in inputs]
            outs = pure_call(operator, operator.attrs, np)(*given)
            for var, value in zip(operator.outputs, outs if operator.op.multiple else (outs,)):
                values[id(var)] = value if isinstance(value, list) else np.asarray(value)
    return found


@functools.cache
def samples(dtype: str, wanted=is_elementwise) -> dict:
    """A sample for each operator and dtype that the tables give with floats of this dtype: those wanted."""
    found = {}
    for table in TABLES:
        for case in importlib.import_module(f"tests.ops.{table}").CASES:
            if case.static and (dtype == "float64" or dtype in case.dtypes):
                try:
                    found |= {k: s for k, s in _samples_of(case, dtype, wanted).items() if k not in found}
                except VitrifyError:
                    continue  # a case that takes no such dtype
    return found
