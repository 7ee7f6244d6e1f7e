"""LLVM by llvmlite: the machine's own features, IR text to machine code. The only file that imports llvmlite."""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..core.lazy import is_available, lazy_module
from .errors import NoNativeForm

_llvm = lazy_module("llvmlite.binding")
# Changes when the same IR gives other machine code: a part of the names of cached files.
COMPILER = "sroa instcombine simplifycfg opt1 addresses as written"
# Machines whose calling conventions and float formats the generated code and its tests know.
_KNOWN = {"x86_64": "x86", "AMD64": "x86", "aarch64": "arm", "arm64": "arm"}
# What holds machine code in memory.
_ENGINES: list[Any] = []
# LLVM's context is one for the process, and is not safe under threads.
_LOCK = threading.RLock()


def why_not_here() -> str:
    """Why nothing can be compiled on this machine; empty if it can."""
    if platform.machine() not in _KNOWN or sys.byteorder != "little" or sys.platform == "win32":
        return f"machine code is not generated for {sys.platform} on {platform.machine()}"
    if sys.implementation.name != "cpython":
        return "kernels are called through NumPy's C interface, which only CPython has"
    return "" if is_available("llvmlite") else "llvmlite is not installed"


# CPUs by level instead of by name (the psABI of x86-64), with the features that decide something here.
LEVELS: dict[str, dict[str, bool]] = {
    "x86-64-v2": {}, "x86-64-v3": {"avx2": True, "f16c": True, "fma": True},
    "x86-64-v4": {"avx2": True, "f16c": True, "fma": True, "avx512f": True},
}  # fmt: skip


class Target:
    """The machine that code is made for: its triple, CPU, features, and which vector functions of libm it has.

    level: one of `LEVELS`; by default this machine's own CPU.
    """

    def __init__(self, level: str | None = None) -> None:
        _llvm.initialize_native_target()
        _llvm.initialize_native_asmprinter()
        self.triple: str = _llvm.get_default_triple()
        self.cpu: str = level or _llvm.get_host_cpu_name()
        features: Mapping[str, bool] = _llvm.get_host_cpu_features() if level is None else LEVELS[level]
        self.features: str = "" if level else features.flatten()  # type: ignore[attr-defined]
        self.is_x86 = _KNOWN[platform.machine()] == "x86"
        self.has_f16 = not self.is_x86 or bool(features.get("f16c"))
        self.has_fma = not self.is_x86 or bool(features.get("fma"))
        self.has_bf16_pairs = self.is_x86 and bool(features.get("avx512bf16")) and bool(features.get("avx512vl"))
        self.has_amx = self.has_bf16_pairs and bool(features.get("amx-tile")) and bool(features.get("amx-bf16"))
        self.has_scalef = self.is_x86 and bool(features.get("avx512f"))
        self.libmvec = self._vector_library()
        # By width of a vector in bytes: the letter of glibc's vector ABI.
        self.widths: dict[int, str] = {}
        if self.libmvec is not None:
            self.widths = {16: "b"}
            if features.get("avx2"):
                self.widths[32] = "d"
            if features.get("avx512f"):
                self.widths[64] = "e"
        self.vector_bytes = max(self.widths, default=16)

    def _vector_library(self) -> Any:
        """glibc's vector functions, where the system has them."""
        _load("libm.so.6" if sys.platform == "linux" else "libm.dylib")
        return _load("libmvec.so.1") if self.is_x86 and sys.platform == "linux" else None

    def has_vector_function(self, symbol: str) -> bool:
        """Whether libmvec here, which grew over the years, has this function."""
        return self.libmvec is not None and hasattr(self.libmvec, symbol)

    @property
    def lanes(self) -> int:
        """How many elements a kernel computes side by side, whatever their size."""
        return self.vector_bytes // 4

    @functools.cached_property
    def identity(self) -> str:
        """What machine code depends on besides the IR: all that a key of the cache on disk needs."""
        versions = ".".join(map(str, _llvm.llvm_version_info))
        return f"{self.triple} {self.cpu} {self.features} llvm {versions}"

    def machine(self) -> Any:
        """A new target machine; it is handed over to the engine that uses it."""
        target = _llvm.Target.from_triple(self.triple)
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=1, reloc="pic", codemodel="jitdefault", jit=True
        )


def _load(name: str) -> Any:
    """The shared library, its symbols known to LLVM from now on; None where the system has none."""
    try:
        library = ctypes.CDLL(name)
        _llvm.load_library_permanently(name)
    except (OSError, RuntimeError):
        return None
    return library


@functools.lru_cache(maxsize=1)
def host() -> Target:
    """The machine that this process runs on. Raises NoNativeForm where nothing can be compiled."""
    reason = why_not_here()
    if reason:
        raise NoNativeForm(reason)
    with _LOCK:
        return Target()


class Loaded:
    """Machine code in memory, for as long as the process lives: nobody may unload what a kernel runs."""

    def __init__(self, engine: Any, names: Sequence[str]) -> None:
        _ENGINES.append(engine)
        self.addresses: dict[str, int] = {name: engine.get_function_address(name) for name in names}


def optimized(text: str, machine: Any) -> Any:
    """The IR as a module, optimized.

    Kernels come in vectors, without equal instructions: what is left to do is small, and a full pipeline would take
    longer than all the rest.
    """
    module = _llvm.parse_assembly(text)
    module.triple = host().triple
    module.data_layout = str(machine.target_data)
    passes = _llvm.create_pass_builder(machine, _llvm.create_pipeline_tuning_options(speed_level=1))
    manager = _llvm.create_new_module_pass_manager()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    manager.add_simplify_cfg_pass()
    manager.run(module, passes)
    return module


# The last version of LLVM that is known to have the option below: one that it has not would end the process.
_LAST_KNOWN = 22


@contextmanager
def _addresses_as_written() -> Iterator[None]:
    """Leave the addresses that loops count up as they are, which takes a quarter less time and gives code as fast: they
    are written as they shall be. LLVM's option is one for the process, so that it is set back for all others.
    """
    if not host().is_x86 or _llvm.llvm_version_info[0] > _LAST_KNOWN:
        yield
        return
    _llvm.set_option("", "-disable-lsr=true")
    try:
        yield
    finally:
        _llvm.set_option("", "-disable-lsr=false")


def object_code(text: str) -> bytes:
    """The IR optimized and translated to an object file for this machine."""
    with _LOCK, _addresses_as_written():
        machine = host().machine()
        return bytes(machine.emit_object(optimized(text, machine)))


def target_of(level: str) -> Target:
    """The target that is called `level`: one of `LEVELS`, or "host". Raises NoNativeForm."""
    found = host()
    if level == "host":
        return found
    if not found.is_x86:
        raise NoNativeForm(f"{level} is a level of x86-64, and this machine is {platform.machine()}")
    with _LOCK:
        return Target(level)


def object_of_modules(
    main: str, modules: Mapping[str, str], exported: Sequence[str], target: Target, data: Sequence[tuple[str, Path]]
) -> bytes:
    """An object file of several modules. The functions of each have its name and a dot before theirs; those of `main`
    that begin as one of `exported` says can be called from outside. data: files whose contents lie at a name.
    """
    with _LOCK:
        _llvm.initialize_native_asmparser()
        machine = _llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small"
        )
        whole = _parsed(main + "\n\n" + "\n".join(_included(name, path) for name, path in data), machine, target)
        for name, text in modules.items():
            is_shared = name in ("", "harness")  # by all programs
            part = _llvm.parse_bitcode(_bitcode(text, target)) if is_shared else _parsed(text, machine, target)
            for function in part.functions:
                if not function.is_declaration and not is_shared:
                    function.name = f"{name}.{function.name}"
                function.linkage = "external"
            whole.link_in(part)
        for function in whole.functions:
            if not function.is_declaration and not function.name.startswith(tuple(exported)):
                function.linkage = "internal"
        passes = _llvm.create_pass_builder(machine, _llvm.create_pipeline_tuning_options(speed_level=1))
        manager = _llvm.create_new_module_pass_manager()
        manager.add_global_dead_code_eliminate_pass()
        manager.add_sroa_pass()
        manager.add_instruction_combine_pass()
        manager.add_simplify_cfg_pass()
        manager.run(whole, passes)
        return bytes(machine.emit_object(whole))


def _parsed(text: str, machine: Any, target: Target) -> Any:
    module = _llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    return module


@functools.lru_cache(maxsize=8)
def _bitcode(text: str, target: Target) -> bytes:
    """IR as LLVM reads it in half the time that text takes it."""
    machine = target.machine()
    return bytes(_parsed(text, machine, target).as_bitcode())


def _included(name: str, path: Path) -> str:
    """A file's content as read-only data, by the assembler that LLVM has."""
    section = ".section .rodata" if sys.platform == "linux" else ".section __TEXT,__const"
    label = name if sys.platform == "linux" else f"_{name}"
    file = str(path).replace("\\", "\\\\")
    lines = [section, ".balign 64", f"{label}:", f'.incbin "{file}"', ".text"]
    return "\n".join('module asm "{}"'.format(line.replace('"', "\\22")) for line in lines)


def define(functions: Mapping[str, int]) -> None:
    """Let code that is loaded from now on call the functions at these addresses by their names."""
    with _LOCK:
        for name, address in functions.items():
            _llvm.add_symbol(name, address)


def load(code: bytes, names: Sequence[str]) -> Loaded:
    """An object file made executable, with the addresses of the functions named."""
    with _LOCK:
        host()
        engine = _llvm.create_mcjit_compiler(_llvm.parse_assembly(""), host().machine())
        engine.add_object_file(_llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return Loaded(engine, names)
