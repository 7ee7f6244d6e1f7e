"""Time the conversion of a model file of 1,000 lines: parsing, every transformer, compiling, and a second conversion.

    python -m benchmarks.conversion [--lines 1000] [--rounds 5] [--profile]

Nothing is traced or run: this is the work on syntax trees alone, for every function and method of the file.
"""

import argparse
import cProfile
import importlib.util
import pstats
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from types import FunctionType, ModuleType

from vitrify.convert.api import convert_plain
from vitrify.core.cache import caches

PIECES = Path(__file__).parent / "models" / "pieces.txt"


def model_source(lines: int = 1000) -> str:
    """Return a model file of about so many lines: Layers, losses, decoding loops, repeated under new names."""
    head, *pieces = PIECES.read_text(encoding="utf-8").split("# ---\n")
    parts, count, number = [head], head.count("\n"), 0
    while count < lines:
        piece = pieces[number % len(pieces)].replace("NUMBER", str(number))
        parts.append(piece)
        count += piece.count("\n")
        number += 1
    return "".join(parts)


def load(source: str, folder: Path) -> ModuleType:
    """Return the module of that source, imported from a file in `folder`."""
    path = folder / "large_model.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("large_model", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions_of(module: ModuleType) -> list[FunctionType]:
    """Return the functions and methods that a module defines."""
    found = []
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else [value]
        found += [m for m in members if isinstance(m, FunctionType) and m.__module__ == module.__name__]
    return found


def forget() -> None:
    """Empty every cache, so that nothing is known of the file."""
    for cache in caches():
        cache.clear()


def convert_all(functions: Sequence[FunctionType]) -> float:
    """Return the seconds that converting these functions takes."""
    start = perf_counter()
    for fn in functions:
        convert_plain(fn)
    return perf_counter() - start


def main(argv: Sequence[str] | None = None) -> float:
    """Print the times; return the median seconds of a first conversion."""
    parser = argparse.ArgumentParser(prog="benchmarks.conversion", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=1000, help="length of the file (default 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="conversions to take the median of (default 5)")
    parser.add_argument("--profile", action="store_true", help="also print where the time goes")
    chosen = parser.parse_args(argv)
    source = model_source(chosen.lines)
    with tempfile.TemporaryDirectory() as folder:
        functions = functions_of(load(source, Path(folder)))
        times, again = [], []
        for _ in range(chosen.rounds):
            forget()
            times.append(convert_all(functions))
            again.append(convert_all(functions))
        print(f"{source.count(chr(10))} lines, {len(functions)} functions")
        print(f"first conversion  {1e3 * median(times):8.1f} ms  (least {1e3 * min(times):.1f})")
        print(f"again             {1e3 * median(again):8.1f} ms  ({1e6 * median(again) / len(functions):.1f} us each)")
        if chosen.profile:
            show_profile(functions)
    return median(times)


def show_profile(functions: Sequence[FunctionType]) -> None:
    """Print the functions of ours that a conversion spends its time in."""
    forget()
    profile = cProfile.Profile()
    profile.runcall(convert_all, functions)
    pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
