"""The command line: look at saved models, run, convert, time and compare them. See docs/interchange.md."""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any, TextIO

from ..core.errors import VitrifyError
from ..core.lazy import MissingPackageError, lazy_module

# A command is imported when it is run: --help is read by people who wait for it.
_compare, _convert, _run, _show = (lazy_module(f"vitrify.tools.{n}") for n in ("compare", "convert", "run", "show"))
_MODEL = "a model: PATH.vtmodel, PATH.json, PATH.pdmodel, PATH.onnx, PATH.so, or PATH alone"
_EXIT = "exit codes: 0 done; 1 it could not be done; 2 the command line is wrong; 130 interrupted"
_EXIT_OF = {"diff": _EXIT.replace("0 done; 1", "0 outputs agree; 1 they differ, with --exact anything does, or")}
# What each command does in a sentence or two, and how it is called.
_ABOUT = {
    "show": (
        "Shows what a model takes and gives, how large its parameters are, its operators by how often they occur, and "
        "the FLOPs of a run with open sizes of --size; --program prints the program instead.",
        ["vitrify show resnet18.pdmodel --size 8", "vitrify show net.onnx --program | less"],
    ),
    "print": (
        "Prints a model's program as text, with operators, shapes and source lines.",
        ["vitrify print resnet18 | less", "vitrify print net.json > net.txt"],
    ),
    "run": (
        "Runs a model once and prints what it gives: names, shapes and the first numbers; --output writes all of it.",
        [
            "vitrify run net.onnx --input image=image.npy --output out.npz",
            "vitrify run net --input inputs.npz",
            "vitrify run net --size 4 --seed 1",
        ],
    ),
    "bench": (
        "Times loading, the first run and --repeat further ones, on inputs that are given or random.",
        ["vitrify bench net --size 32 --repeat 100", "vitrify bench net.pdmodel --input image=image.npy"],
    ),
    "convert": (
        "Writes a model in the format that the target's ending says. Files that are there are replaced with --force "
        "alone, in one step: what fails leaves them as they were.",
        ["vitrify convert net.pdmodel net.onnx", "vitrify convert net.onnx net.so", "vitrify convert a b.json --force"],
    ),
    "diff": (
        "Compares two models: their programs, their parameters, and what they give for the same inputs.",
        ["vitrify diff net.pdmodel net.onnx --size 4 --tolerance 1e-4", "vitrify diff old.json new.json --exact"],
    ),
}


class _Formatter(argparse.HelpFormatter):
    """Keeps the lines of an epilog apart, each of them wrapped, but for examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text  # which would take the space before an example away, and break it where it is long
        lines = text.splitlines()
        return "\n".join(line if line.startswith("  ") else fill(line, width, indent) for line in lines)


def escaped(text: str) -> str:
    """The text with control characters written out: names in a file may hold what a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


class _Escaped(io.TextIOBase):
    """A stream for text in which there may be names from a file."""

    def __init__(self, to: TextIO) -> None:
        self._to = to

    def write(self, text: str) -> int:
        """Write the text, escaped."""
        return self._to.write(escaped(text))

    def flush(self) -> None:
        """Flush what it writes to."""
        self._to.flush()


def _version() -> str:
    package: Any = sys.modules[__name__.partition(".")[0]]
    return str(package.__version__)


def _texts(name: str) -> dict[str, Any]:
    description, examples = _ABOUT[name]
    lines = ["examples:", *(f"  {example}" for example in examples), _EXIT_OF.get(name, _EXIT)]
    return {"description": description, "epilog": "\n".join(lines), "formatter_class": _Formatter}


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    found = argparse.ArgumentParser(
        prog="vitrify",
        description=__doc__.partition(" See")[0] + " Each command has a --help of its own.",
        epilog="\n".join(["examples:", *(f"  {examples[0]}" for _, examples in _ABOUT.values()), _EXIT]),
        formatter_class=_Formatter,
    )
    found.add_argument("--version", action="version", version=f"vitrify {_version()}")
    commands = found.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = commands.add_parser(
        "show", help="what a model takes, gives and holds, and its arithmetic", aliases=["info"], **_texts("show")
    )
    command.add_argument("model", help=_MODEL)
    command.add_argument("--program", action="store_true", help="the whole program as text")
    _add_inputs(command)
    command.set_defaults(run=lambda given: _show.main(given))

    command = commands.add_parser("print", help="a model's program as text", **_texts("print"))
    command.add_argument("model", help=_MODEL)
    command.set_defaults(run=lambda given: _show.main(given), program=True)

    command = commands.add_parser("run", help="run a model on arrays", **_texts("run"))
    command.add_argument("model", help=_MODEL)
    _add_inputs(command)
    command.add_argument("--output", metavar="FILE.npz", help="write the outputs there")
    command.set_defaults(run=lambda given: _run.main(given))

    command = commands.add_parser("bench", help="time a model", **_texts("bench"))
    command.add_argument("model", help=_MODEL)
    _add_inputs(command)
    command.add_argument("--repeat", type=_positive, default=20, metavar="N", help="how many runs are timed (20)")
    command.set_defaults(run=lambda given: _run.bench(given))

    command = commands.add_parser("convert", help="write a model in another format", **_texts("convert"))
    command.add_argument("model", help=_MODEL)
    command.add_argument("target", help="TO.vtmodel, TO.json, TO.pdmodel, TO.onnx or TO.so: the ending says the format")
    command.add_argument("--force", action="store_true", help="replace files that are there")
    command.set_defaults(run=lambda given: _convert.main(given))

    command = commands.add_parser("diff", help="compare two models: programs, parameters, outputs", **_texts("diff"))
    command.add_argument("model", help=_MODEL)
    command.add_argument("other", help=_MODEL)
    _add_inputs(command)
    command.add_argument(
        "--tolerance", type=_distance, default=1e-5, metavar="T", help="how far outputs may differ (1e-5)"
    )
    command.add_argument(
        "--exact", action="store_true",
        help="programs and parameters must be the same, too, by name and value; without it they are only shown, as "
        "formats name parameters and write operators in ways of their own",
    )  # fmt: skip
    command.set_defaults(run=lambda given: _compare.main(given))
    return found


def _add_inputs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--input", action="append", default=[], metavar="[NAME=]FILE",
        help="an input's array, a .npy by name or in the model's order, or a .npz with arrays by the names of inputs; "
        "what is left out is random, and 0 where whole numbers are asked for",
    )  # fmt: skip
    command.add_argument(
        "--size", type=_positive, default=1, metavar="N", help="the sizes left open, of random inputs (1)"
    )
    command.add_argument("--seed", type=int, default=0, help="the seed of random inputs (0)")


def _positive(text: str) -> int:
    if not text.lstrip("-").isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, but received {text!r}")
    return int(text)


def _distance(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"a number from 0 on, but received {text!r}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = parser().parse_args(arguments)
    try:
        with redirect_stdout(_Escaped(sys.stdout)):
            return int(given.run(given))
    except BrokenPipeError:  # who reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"\nvitrify {given.command}: interrupted", file=sys.stderr)
        return 130
    except (VitrifyError, MissingPackageError, OSError, ValueError) as err:
        said = f"{err.filename}: {err.strerror}" if isinstance(err, OSError) and err.filename else err
        print(escaped(f"vitrify {given.command}: {said}"), file=sys.stderr)
        return 1
