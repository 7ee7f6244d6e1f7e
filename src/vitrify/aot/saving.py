"""`jit.save(..., format="native")`: a Layer or function as a shared library and a C header."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..codegen.ahead.module import object_code
from ..codegen.ahead.program import Compiled, Port, compiled
from ..codegen.errors import NoNativeForm
from ..codegen.llvm import LEVELS, Target, target_of
from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, UnsupportedError
from ..core.meta import ListMeta
from ..core.source import user_stacklevel
from ..ir.model_file import ModelFile, SavedFunction, input_names, slots_in
from ..jit.saving import collect
from ..passes.pipeline import optimized
from .files import library_suffix
from .header import header_text
from .linking import command_text, linked
from .sealing import sealed

OPTIONS = ("cpu", "dynamic_axes")


def save_format(layer: Any, path: Any, input_spec: Any = None, **configs: Any) -> None:
    """Write a Layer or function to `path.so` and `path.h`, as it is in evaluation mode.

    Where no linker (cc, gcc, clang, ld) is found it is `path.o` instead, with a warning that says how to link it.
    input_spec: InputSpecs of the arguments. None dimensions are any size from 1 on; those at the same axis are the same
        size in all arguments, unless `dynamic_axes` says otherwise.
    configs: `cpu`: "host", the CPU of this machine, or a level: "x86-64-v2", "x86-64-v3", "x86-64-v4".
        `dynamic_axes`: names of sizes that vary, {input name: {dimension: name}}; sizes of one name are equal.
    Raises UnsupportedError, with the op and the user's line, for what has no native form, ArgumentError for other
    settings.
    """
    unknown = set(configs) - {*OPTIONS}
    if unknown:
        raise ArgumentError(f"jit.save: native has no setting {sorted(unknown)}; there are {list(OPTIONS)}")
    target = _target(configs.get("cpu", "host"))
    model = collect(layer, input_spec, training=False)
    base = _without_suffix(path)
    prefix = _identifier(os.path.basename(base))
    names = _prefixes(prefix, model)
    programs = [
        (names[name], _compiled(name, function, model, target, configs.get("dynamic_axes") or {}))
        for name, function in model.functions.items()
    ]
    _write(
        base, object_code(programs, list(model.functions), target), header_text(prefix, programs, [*model.functions])
    )


def _target(cpu: str) -> Target:
    if cpu != "host" and cpu not in LEVELS:
        raise ArgumentError(f"jit.save: no cpu is called {cpu!r}; there are {['host', *LEVELS]}")
    try:
        return target_of(cpu)
    except NoNativeForm as reason:
        raise UnsupportedError(f"jit.save: native programs cannot be made here: {reason}") from None


def _without_suffix(path: Any) -> str:
    name = str(os.fspath(path)).removesuffix(library_suffix())
    if not os.path.basename(name):
        raise ArgumentError(f"jit.save: {name!r} names no file")
    return name


def _identifier(text: str) -> str:
    """The text as a name in C."""
    found = re.sub(r"[^0-9A-Za-z_]", "_", text)
    return f"_{found}" if found[0].isdigit() else found


def _prefixes(prefix: str, model: ModelFile) -> dict[str, str]:
    """What the C functions of each saved function begin with: all differ."""
    found: dict[str, str] = {}
    for name in model.functions:
        wanted = prefix if name == "forward" else f"{prefix}_{_identifier(name)}"
        while wanted in found.values():
            wanted += "_"
        found[name] = wanted
    return found


def _compiled(
    name: str, function: SavedFunction, model: ModelFile, target: Target, axes: Mapping[str, Mapping[int, str]]
) -> Compiled:
    block = function.program.global_block()
    if function.writes:
        raise UnsupportedError(
            f"native: {name} changes its arguments or buffers in place, which a native program cannot",
            hint="return the new values",
        )
    given = [(block.inputs if s.kind == "input" else block.outputs)[s.index] for s in slots_in(function.output_tree)]
    outputs = [v for v in given if v is not None]
    if not outputs:
        raise UnsupportedError(f"native: {name} gives no tensor, and a native program gives at least one")
    if any(isinstance(v.meta, ListMeta) for v in [*block.inputs, *outputs]):
        raise UnsupportedError(
            f"native: {name} takes or gives a list whose length only the run knows, which a native program cannot",
            hint="give paddle.stack of it",
        )
    names = input_names(function)
    stray = set(axes) - set(names)
    if stray:
        raise ArgumentError(f"jit.save: dynamic_axes names {sorted(stray)}; the inputs are {names}")
    ports = [_port(n, spec, axes.get(n, {})) for n, spec in zip(names, function.inputs)]
    parameters = [model.tensors[t] for t in function.tensors]
    return compiled(name, block, ports, parameters, outputs, target, optimized)


def _port(name: str, spec: Any, axes: Mapping[int, str]) -> Port:
    sizes = [axes.get(i, f"axis {i}") if n < 0 else n for i, n in enumerate(spec.meta.shape)]
    return Port(name, spec.meta.dtype.name, tuple(sizes))


def _write(base: str, code: bytes, header: str) -> None:
    """The library, or the object file where nothing links it; then the header."""
    os.makedirs(os.path.dirname(os.path.abspath(base)), exist_ok=True)
    library, reason = linked(code, os.path.basename(base) + library_suffix())
    endings = [library_suffix(), ".o"]
    target = base + endings[library is None]
    with atomic_file(target) as out:
        out.write(code if library is None else sealed(library))
    with suppress(FileNotFoundError):  # of an earlier save, which the header does not tell of
        os.unlink(base + endings[library is not None])
    with atomic_file(base + ".h") as out:
        out.write(header.encode())
    if library is None:
        warnings.warn(
            f"jit.save: {reason}, so there is {target} in place of a library; link it with: {command_text(base)}",
            stacklevel=user_stacklevel(),
        )


__all__: Sequence[str] = ["OPTIONS", "save_format"]
