"""A block compiled ahead of time: its steps for sizes that may be left open, its kernels, its constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ...core.errors import ArgumentError, UnsupportedError, VitrifyError
from ...core.meta import Meta
from ...ir.program import Block, Variable
from ...ir.ssa import Graph
from ...ir.ssa_blocks import block_of, graph_of
from ..errors import NoNativeForm
from ..llvm import Target
from ..operands import INPUT, Buffer, Operand, dense
from ..results import results_of
from .abi import DTYPES, MOST_DIMS
from .assembler import DATA
from .driver import Driver, Lowering, is_driven
from .forms import Forms, Kernels
from .layout import Layout, Sample, layout_of
from .quotients import QUOTIENT_SCALES, quotient_bases, steps_of
from .ranges import ANY, ranges_of
from .sizes import MOST_SIZES, PART_SCALES, SCALES, Basis, OpenShape, Plus, basis, dimension, open_name

_MOST_FIXED = 8
"""Parts that hold from some size on are made for each of the smaller sizes by themselves, for so many of them."""


@dataclass(frozen=True)
class Port:
    """An input or output: its name, dtype, and sizes; those left open have a name, or -1 in outputs."""

    name: str
    dtype: str
    shape: OpenShape

    @property
    def shown(self) -> tuple[int, ...]:
        """The shape with -1 for what is left open."""
        return tuple(n if isinstance(n, int) else -1 for n in self.shape)


@dataclass(frozen=True)
class Compiled:
    """A program for a target. `sizes`: the names of those left open, which are multiples of `steps`; `ranges`: from
    where to where each may be, in such steps.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    sizes: tuple[str, ...]
    layout: Layout
    kernels: Kernels
    ranges: tuple[tuple[int, int], ...]
    steps: tuple[int, ...]
    driver: Driver | None = None


def compiled(
    name: str, block: Block, inputs: Sequence[Port], parameters: Sequence[Any], outputs: Sequence[Variable],
    target: Target, optimize: Callable[[Graph], Graph],
) -> Compiled:  # fmt: skip
    """The program of a block that takes arrays like `inputs` and then these parameters, and gives these variables.

    optimize: what makes a graph of one better. Raises UnsupportedError with the op and the user's line.
    """
    _check(name, [*inputs])
    sizes = tuple(dict.fromkeys(n for port in inputs for n in port.shape if isinstance(n, str)))
    if len(sizes) > MOST_SIZES:
        raise ArgumentError(
            f"{name}: {len(sizes)} sizes are left open ({', '.join(sizes)}); native programs have at most {MOST_SIZES}",
            hint="give sizes in input_spec, or one name to sizes that are equal: dynamic_axes={'x': {0: 'batch'}}",
        )
    block = block_of(optimize(graph_of(block, block.inputs, outputs)))
    if is_driven(block):
        return _driven(name, block, inputs, parameters, sizes, target)
    return _alone(name, block, inputs, parameters, sizes, target)


def _driven(
    name: str, block: Block, inputs: Sequence[Port], parameters: Sequence[Any], sizes: tuple[str, ...], target: Target
) -> Compiled:
    """A program with sizes that only the run knows."""
    kernels = Kernels(target)

    def part(own: Block, shapes: Sequence[OpenShape], held: Sequence[Any]) -> list[Compiled]:
        metas = [_meta(v) for v in own.inputs]
        ports = [Port(f"value {i}", m.dtype.name, tuple(s)) for i, (m, s) in enumerate(zip(metas, shapes))]
        return _for_ranges(name, own, ports, held, target)

    try:
        driver, shapes = Lowering(name, part).lowered(block, [[*p.shape] for p in inputs], parameters)
    except NoNativeForm as reason:
        raise UnsupportedError(f"{name} cannot be compiled ahead of time: {reason}") from None
    given = [_output(v, tuple("?" if n < 0 else n for n in shape)) for v, shape in zip(_outputs_of(block), shapes)]
    _check(name, given)
    layout = Layout(basis(0), outputs=[0] * len(given))
    ones = (1,) * len(sizes)
    return Compiled(name, tuple(inputs), tuple(given), sizes, layout, kernels, ((1, ANY),) * len(sizes), ones, driver)


def _for_ranges(
    name: str, block: Block, inputs: Sequence[Port], parameters: Sequence[Any], target: Target
) -> list[Compiled]:
    """A part for all sizes; where it is another one for larger sizes, several with their ranges."""
    names = tuple(dict.fromkeys(n for p in inputs for n in map(open_name, p.shape) if n is not None))
    found: list[Compiled] = []
    first: UnsupportedError | None = None
    for scale in PART_SCALES if names else PART_SCALES[:1]:
        try:
            made = _alone(name, block, inputs, parameters, names, target, 0, (scale,))
        except UnsupportedError as err:
            first = first or err
            continue
        except ValueError as err:  # of NumPy, which computes what is known
            first = first or UnsupportedError(f"{name} cannot be compiled ahead of time: {err}")
            continue
        if all(most == ANY and least <= 1 for least, most in made.ranges):
            found = [made]
            break
        if made.ranges not in [other.ranges for other in found]:
            found.append(made)
    if not found and first is not None:
        raise first
    for number, own in enumerate(names):
        least = min(made.ranges[number][0] for made in found)
        if least <= _MOST_FIXED and (least > 1 or len(names) == 1):
            for size in range(least):  # what nothing makes, or a few, is known now
                fixed = [replace(p, shape=tuple(_fixed(n, own, size) for n in p.shape)) for p in inputs]
                with suppress(VitrifyError, ValueError):  # what fails there does so in eager mode, too
                    found = [*_for_ranges(name, block, fixed, parameters, target), *found]
            break  # those parts see to the other sizes
    return found


def _fixed(n: int | str | Plus, name: str, size: int) -> int | str | Plus:
    """A dimension, where the open size of that name is this one."""
    return dimension(n, {name: size}) if open_name(n) == name else n


def _alone(
    name: str, block: Block, inputs: Sequence[Port], parameters: Sequence[Any], sizes: tuple[str, ...],
    target: Target, smallest: int = 1, scales: Sequence[str] = SCALES,
) -> Compiled:  # fmt: skip
    """A program, or a part of one, whose sizes are all known when it begins."""
    forms = Forms(Kernels(target), name)
    constants = [Buffer(DATA, array.nbytes, array) for array in parameters]

    def sample(values: Sequence[int]) -> Sample:
        return _sample(forms, block, inputs, constants, dict(zip(sizes, values)), bool(sizes))

    fitted = _fitted(name, sizes, sample, scales, smallest)
    given = tuple(_port(v, [s.outputs[i].shape for s in fitted.samples]) for i, v in enumerate(_outputs_of(block)))
    _check(name, [*given])
    return Compiled(name, tuple(inputs), given, sizes, fitted.layout, forms.kernels, fitted.ranges, fitted.steps)


@dataclass(frozen=True)
class _Fitted:
    """The words of a program, the sizes for which they hold, and the samples that they were found from."""

    layout: Layout
    ranges: tuple[tuple[int, int], ...]
    steps: tuple[int, ...]
    samples: Sequence[Sample]


def _fitted(
    name: str, sizes: Sequence[str], sample: Callable[[Sequence[int]], Sample], scales: Sequence[str], smallest: int
) -> _Fitted:
    """The program of the samples: of any sizes, else of multiples of a power of two."""
    ones = (1,) * len(sizes)
    refused: VitrifyError
    try:
        found, made = _samples(name, sizes, sample, scales)
        return _Fitted(layout_of(found, made), ranges_of(found, made, sample, smallest), ones, made)
    except NoNativeForm as err:
        refused = _of_open_sizes(name, sizes, err)
    except VitrifyError as err:
        refused = err
    if not sizes:
        raise refused
    # Parts take sizes as they come, so those of them are no multiples of what is not said.
    steps = steps_of(len(sizes), sample) if smallest else ones
    for own in dict.fromkeys((ones, steps)):
        found_or_reason = _by_quotients(own, sample, smallest)
        if isinstance(found_or_reason, _Fitted):
            return found_or_reason
        if isinstance(found_or_reason, NoNativeForm):
            refused = _of_open_sizes(name, sizes, found_or_reason)
    raise refused


def _by_quotients(
    steps: tuple[int, ...], sample: Callable[[Sequence[int]], Sample], smallest: int
) -> _Fitted | NoNativeForm | None:
    """The program of sizes that are multiples of these steps, where quotients of them are sizes, too.

    Else why there is none; None where it has no such sizes, for which polynomials alone have been tried.
    """

    def stepped(values: Sequence[int]) -> Sample:
        return sample([n * step for n, step in zip(values, steps)])

    reason: NoNativeForm | None = None
    for scale in QUOTIENT_SCALES:
        try:
            for found, made in quotient_bases(steps, scale, stepped):
                if not found.quotients and max(steps) == 1:
                    return None
                try:
                    return _Fitted(layout_of(found, made), ranges_of(found, made, stepped, smallest), steps, made)
                except NoNativeForm as err:
                    reason = reason or err
        except (NoNativeForm, VitrifyError, ValueError, MemoryError):  # at these sizes, which others may not do
            continue
    return reason


def _of_open_sizes(name: str, sizes: Sequence[str], reason: NoNativeForm) -> UnsupportedError:
    return UnsupportedError(
        f"{name} cannot be compiled ahead of time with open sizes ({', '.join(sizes)}): {reason}",
        hint="give all sizes in input_spec, and save one program for each that is needed",
    )


def _samples(
    name: str, sizes: Sequence[str], sample: Callable[[Sequence[int]], Sample], scales: Sequence[str]
) -> tuple[Basis, list[Sample]]:
    """The program put together for some sizes: small ones where it refuses others."""
    refused: list[VitrifyError] = []
    for found in [basis(len(sizes), scale) for scale in scales]:
        try:
            return found, [sample(values) for values in found.samples]
        except VitrifyError as err:  # a table that is shorter than the sizes to look at, say
            if not sizes:
                raise
            refused.append(err)
    first, last = refused[0], refused[-1]
    if isinstance(first, UnsupportedError):
        raise first
    raise UnsupportedError(
        f"{name} cannot be compiled ahead of time with open sizes ({', '.join(sizes)}): at sizes of "
        f"{found.samples[0][0]} and more {last.message}",
        loc=last.loc,
        hint="give the sizes that it is limited to in input_spec",
    )


def _check(name: str, ports: Sequence[Port]) -> None:
    """All arrays can be told of in C."""
    for port in ports:
        if port.dtype not in DTYPES or len(port.shape) > MOST_DIMS:
            raise UnsupportedError(
                f"{name}: {port.name} is {port.dtype} of {len(port.shape)} dimensions, which a native program does not "
                f"take or give",
                hint=f"it knows {', '.join(DTYPES)} of up to {MOST_DIMS} dimensions",
            )


def _sample(
    forms: Forms, block: Block, inputs: Sequence[Port], constants: Sequence[Buffer], sizes: dict[str, int],
    is_sample: bool,
) -> Sample:  # fmt: skip
    """The steps for certain sizes."""
    assembler = forms.assembler(is_sample)
    given = []
    for number, (port, variable) in enumerate(zip(inputs, block.inputs)):
        shape = tuple(dimension(n, sizes) for n in port.shape)
        dtype = _meta(variable).dtype.np
        steps = dense(shape, dtype.itemsize)
        given.append(Operand(Buffer(INPUT, 0, number), 0, shape, steps, dtype))
    known = [
        Operand(b, 0, b.number.shape, dense(b.number.shape, b.number.dtype.itemsize), b.number.dtype) for b in constants
    ]
    forms.shapes, forms.numbers = [x.shape for x in given], []
    outputs = results_of(assembler, forms.run(assembler, block, [*given, *known]))
    assembler.pack_weights(forms.packed)
    return Sample(assembler.steps, given, outputs, [*forms.shapes, *assembler.noted], forms.numbers)


def _meta(variable: Any) -> Meta:
    assert isinstance(variable.meta, Meta)
    return variable.meta


def _outputs_of(block: Block) -> list[Variable]:
    return [v for v in block.outputs if v is not None]


def _output(variable: Variable, shape: OpenShape) -> Port:
    return Port(variable.name, _meta(variable).dtype.name, shape)


def _port(variable: Variable, shapes: Sequence[tuple[int, ...]]) -> Port:
    """An output; what differs between the samples is left open."""
    shape = tuple(s[0] if len(set(s)) == 1 else "?" for s in zip(*shapes))
    return Port(variable.name, _meta(variable).dtype.name, shape)
