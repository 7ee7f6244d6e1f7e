"""Compiled programs as one object file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError
from .. import gemm
from ..emit import FLOAT32, FLOAT64
from ..harness import harness_ir
from ..inner_loops import inner_loops
from ..llvm import Target, object_of_modules
from ..pointwise import attributes
from . import interface, steps
from .abi import DTYPES
from .assembler import Symbol
from .constants import shared
from .driver import SLOT, Part, resolved
from .driver_run import driver_run_ir
from .driver_steps import driver_ir
from .interface import BLOCK_HEAD, HEAD_WORDS, SIZE_BITS, TIMES_BITS, Strings
from .layout import Coefficients, Place
from .product_steps import product_steps
from .program import Compiled, Port
from .sizes import Plus, open_name
from .team import ahead_team_ir

_ALIGNED = 64
_DATA = "vitrify.data"  # the constants of all programs
LARGEST_DATA = (1 << 31) - (1 << 26)
"""Constants beyond this are out of reach of the code that reads them."""


def object_code(programs: Sequence[tuple[str, Compiled]], names: Sequence[str], target: Target) -> bytes:
    """The object file of programs, each with the prefix of its functions; names: as the functions are called.

    Raises UnsupportedError where their constants are too many.
    """
    strings = Strings()
    exports = [
        interface.exported(prefix, f"@program{i}.model", "vitrify.run" if program.driver is None else "drive.run")
        for i, (prefix, program) in enumerate(programs)
    ]
    listed = "\n".join(f"{name} {prefix}" for name, (prefix, _) in zip(names, programs))
    kept = [f"{prefix}_" for prefix, _ in programs]
    programs, first = _with_parts(programs)
    constants = shared([program.layout for _, program in programs])
    if constants.bytes > LARGEST_DATA:
        raise UnsupportedError(
            f"jit.save: a native program holds its parameters, at most {LARGEST_DATA:,} bytes, and these are "
            f"{constants.bytes:,}",
            hint="save in another format, or as smaller parts",
        )
    programs = [(p, replace(program, layout=own)) for (p, program), own in zip(programs, constants.layouts)]
    parts = [_globals(f"program{i}", program, strings, first.get(i, 0)) for i, (_, program) in enumerate(programs)]
    drives = [*driver_ir(strings), *driver_run_ir(strings)] if first else []
    common = interface.common_ir(strings)
    index = interface.constant_text("@vitrify_functions", listed).replace("internal", "weak_odr", 1)
    data = f"@{_DATA} = external hidden constant i8"
    main = [common, data, *drives, *parts, *exports, strings.ir, index, *_declared(programs)]
    modules = {"": _steps_ir(target)}
    modules["harness"] = harness_ir()
    for i, (_, program) in enumerate(programs):
        modules |= {f"program{i}.{name}": text for name, text in program.kernels.modules.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.bin"
        constants.write(path)
        return object_of_modules("\n\n".join(main), modules, kept, target, [(_DATA, path)])


@lru_cache(maxsize=4)
def _steps_ir(target: Target) -> str:
    """What all programs for a target may call: 770,000 characters, which took half as long to write as to compile."""
    fixed = {**inner_loops(), **steps.steps()}
    products: dict[str, None] = {}  # declared once, though both dtypes need it
    for dtype in (FLOAT32, FLOAT64):
        shape = gemm.shape_of(dtype, target)
        fixed |= {**gemm.gemm_ir(shape), **product_steps(shape)}
        products |= dict.fromkeys(gemm.declarations(shape))
    memcpy = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    return "\n\n".join([*fixed.values(), ahead_team_ir(target), memcpy, *products, attributes(target)])


def _with_parts(programs: Sequence[tuple[str, Compiled]]) -> tuple[list[tuple[str, Compiled]], dict[int, int]]:
    """The programs and behind them the parts of those with a driver; for these the number of their first one."""
    found, first = [*programs], {}
    for i, (_, program) in enumerate(programs):
        if program.driver is not None:
            first[i] = len(found)
            found += [("", part) for part in program.driver.parts]
    return found, first


def _declared(programs: Sequence[tuple[str, Compiled]]) -> Iterator[str]:
    """Declarations of the functions of other modules that words name."""
    yield "declare i32 @run(ptr, ptr, ptr)\ndeclare void @loop()"
    named = {w.name for _, p in programs for w in p.layout.words if isinstance(w, Symbol)}
    for name in sorted(named):
        if name not in ("run", "loop", "asserted") and not name.startswith("kernel"):
            yield f"declare void @{name}()"
    for i, (_, program) in enumerate(programs):
        found = {w.name for w in program.layout.words if isinstance(w, Symbol)}
        found |= {w.name for ws in program.kernels.descriptions.values() for w in ws if isinstance(w, Symbol)}
        for name in sorted(name for name in found if "." in name):
            yield f"declare void @program{i}.{name}()"


# -- one program -------------------------------------------------------------------------------------------------------


def _globals(own: str, program: Compiled, strings: Strings, first: int) -> str:
    """The tables of a program."""
    layout, basis = program.layout, program.layout.basis
    lines = [
        f"@{own}.{name} = internal constant {_array(words, own)}"
        for name, words in program.kernels.descriptions.items()
    ]
    ports = {}
    for kind, group in (("inputs", program.inputs), ("outputs", program.outputs)):
        rows: list[Any] = []
        for i, port in enumerate(group):
            dims, shown = f"{own}.{kind}{i}.dims", f"{own}.{kind}{i}.shape"
            sizes = [_dimension(n, program.sizes) for n in port.shape]
            lines += [f"@{dims} = internal constant {_array(sizes, own)}",
                      f"@{shown} = internal constant {_array(port.shown, own)}"]  # fmt: skip
            at = layout.outputs[i] if kind == "outputs" else 0
            rows += [*_port(port, strings), f"@{dims}", at, f"@{shown}"]
        ports[kind] = rows
    patches = [w for at, c in layout.patches.items() for w in (at, *_row(c))]
    places = [i for i, w in enumerate(layout.words) if isinstance(w, Place)]
    tables = {
        "inputs": ports["inputs"], "outputs": ports["outputs"], "words": layout.words, "patches": patches,
        "places": places, "powers": [e for p in basis.powers for e in p], "bound": layout.bound,
        "ranges": [n for own, step in zip(program.ranges, program.steps) for n in (*own, step)],
        "quotients": [n for quotient in basis.quotients for n in quotient],
        "floats": [n for own in layout.floats for n in own], "groups": [n for group in layout.groups for n in group],
    }  # fmt: skip
    if program.driver is not None:
        words = resolved(program.driver)
        tables["drive"] = [f"@program{first + w.index}.model" if isinstance(w, Part) else w for w in words]
        tables["results"] = program.driver.outputs
    lines += [f"@{own}.{name} = internal constant {_array(words, own)}" for name, words in tables.items()]
    lines.append(f"@{own}.kept = internal global ptr null")
    lines.append(f"@{own}.model = internal constant {_array(_head(own, program, len(places)), own)}")
    return "\n".join(lines)


def _dimension(n: int | str | Plus, sizes: Sequence[str]) -> int:
    """A dimension as `run` reads it: a number, or below 0 which size it is, in higher bits how many times, and above
    these what is added.
    """
    name = open_name(n)
    if name is None or name not in sizes:
        return n if isinstance(n, int) else -1
    times, more = (n.times, n.more) if isinstance(n, Plus) else (1, 0)
    return -1 - (sizes.index(name) + (times << SIZE_BITS) + (more << SIZE_BITS + TIMES_BITS))


def _port(port: Port, strings: Strings) -> list[Any]:
    item = {"bool": 1, "bfloat16": 2}.get(port.dtype) or np.dtype(port.dtype).itemsize
    return [strings.at(port.name), DTYPES.index(port.dtype), item, len(port.shape)]


def _row(coefficients: Coefficients) -> list[int]:
    """The coefficients that are not 0: how many, then the number of each power and its factor."""
    terms = [(i, c) for i, c in enumerate(coefficients) if c]
    return [len(terms), *[n for term in terms for n in term]]


def _head(own: str, program: Compiled, places: int) -> list[Any]:
    layout = program.layout
    basis = layout.basis
    fixed = 8 * (BLOCK_HEAD + len(layout.words) + layout.pointers)
    words: list[Any] = [0] * HEAD_WORDS
    for index, word in (
        (interface.N_INPUTS, len(program.inputs)), (interface.N_OUTPUTS, len(program.outputs)),
        (interface.INPUTS, f"@{own}.inputs"), (interface.OUTPUTS, f"@{own}.outputs"),
        (interface.N_SIZES, len(program.sizes)), (interface.N_POWERS, len(basis.powers)),
        (interface.POWERS, f"@{own}.powers"), (interface.N_WORDS, len(layout.words)),
        (interface.WORDS, f"@{own}.words"),
        (interface.N_PATCHES, len(layout.patches)), (interface.PATCHES, f"@{own}.patches"),
        (interface.N_PLACES, places), (interface.PLACES, f"@{own}.places"), (interface.N_GROUPS, len(layout.groups)),
        (interface.GROUPS, f"@{own}.groups"), (interface.DERIVED, layout.derived[0]),
        (interface.N_DERIVED, layout.derived[1]), (interface.CODE, layout.code[0]), (interface.END, layout.code[1]),
        (interface.DATA, f"@{_DATA}"), (interface.KEPT, f"@{own}.kept"), (interface.BOUND, f"@{own}.bound"),
        (interface.FIXED, -(-fixed // _ALIGNED) * _ALIGNED), (interface.SIZED, layout.sized),
        (interface.N_FLOATS, len(layout.floats)),
        (interface.N_QUOTIENTS, len(basis.quotients)), (interface.QUOTIENTS, f"@{own}.quotients"),
        (interface.FLOATS, f"@{own}.floats"), (interface.RANGES, f"@{own}.ranges"),
    ):  # fmt: skip
        words[index] = word
    if program.driver is not None:
        driver = program.driver
        words[interface.DRIVE], words[interface.RESULTS] = f"@{own}.drive", f"@{own}.results"
        words[interface.SLOTS], words[interface.FRAME] = driver.slots, driver.slots * SLOT + driver.room
    return words


def _array(words: Sequence[Any], own: str) -> str:
    """Words as a constant of LLVM's."""
    return f"[{len(words)} x i64] [{', '.join(f'i64 {_word(w, own)}' for w in words)}]"


def _word(word: Any, own: str) -> str:
    if isinstance(word, Symbol):
        name = f"{own}.{word.name}" if word.name.startswith("kernel") else word.name
        return f"ptrtoint (ptr @{name} to i64)"
    if isinstance(word, Place):
        return str(word.index)
    return f"ptrtoint (ptr {word} to i64)" if isinstance(word, str) else str(int(word))


__all__ = ["object_code"]
