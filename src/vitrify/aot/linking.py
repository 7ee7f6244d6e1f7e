"""From an object file to a shared library, by the linker that the system has."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .files import library_suffix

# Compilers know where the system's libraries are; linkers by themselves take one more.
LINKERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cc", ()), ("gcc", ()), ("clang", ()), ("ld", ("-lc",)), ("ld.lld", ("-lc",)),
)  # fmt: skip
_TIMEOUT = 300


def _libraries(code: bytes) -> list[str]:
    """What the code calls functions of."""
    threads = ["-lpthread"] if sys.platform == "linux" else []  # of a glibc before 2.34
    return [*(["-lmvec"] if b"_ZGV" in code else []), "-lm", *threads]


def linked(code: bytes, name: str) -> tuple[bytes | None, str]:
    """A shared library of that name made of an object file; None and the reason where no linker makes one."""
    reason = "no linker is found (" + ", ".join(linker for linker, _ in LINKERS) + ")"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "program.o", Path(folder) / "program.so"
        source.write_bytes(code)
        for linker, more in LINKERS:
            found = shutil.which(linker)
            if found is None:
                continue
            command = [
                found,
                "-shared",
                "-o",
                str(target),
                str(source),
                *_own_name(linker, name),
                *_libraries(code),
                *more,
            ]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
            if ended.returncode == 0:
                return target.read_bytes(), ""
            reason = f"{linker} fails: {ended.stderr.strip()[:500]}"
    return None, reason


def _own_name(linker: str, name: str) -> list[str]:
    """How the library is called by programs that are linked with it."""
    if sys.platform == "darwin":
        return []
    return ["-soname", name] if linker.startswith("ld") else [f"-Wl,-soname,{name}"]


def command_text(base: str) -> str:
    """The command that links an object file."""
    mvec, threads = ("-lmvec ", " -lpthread") if sys.platform == "linux" else ("", "")
    return f"cc -shared -o {base}{library_suffix()} {base}.o {mvec}-lm{threads}"
