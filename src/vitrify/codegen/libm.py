"""Functions of libm in vectors: glibc's libmvec where it has one of a fitting width, else lane by lane."""

from __future__ import annotations

from .emit import Emitter, Register
from .llvm import Target

# name of a scalar primitive -> name in libm
UNARY: dict[str, str] = {
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2", "log10": "log10",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf",
}  # fmt: skip
BINARY: dict[str, str] = {"atan2": "atan2", "hypot": "hypot", "pow": "pow", "nextafter": "nextafter", "fmod": "fmod"}


def call(emit: Emitter, target: Target, name: str, *operands: Register) -> Register:
    """libm's `name` of floats or doubles, within 4 units in the last place."""
    operands = tuple(emit.alike(*operands))
    first = operands[0]
    symbol = name + ("f" if first.type == "float" else "")
    size = 4 if first.type == "float" else 8
    if first.lanes > 1:
        for width in sorted(target.widths, reverse=True):
            lanes = width // size
            vector = f"_ZGV{target.widths[width]}N{lanes}{'v' * len(operands)}_{symbol}"
            if lanes <= first.lanes and target.has_vector_function(vector):
                return _in_parts(emit, f"@{vector}", lanes, operands)
    return _in_parts(emit, f"@{symbol}", 1, operands)


def _in_parts(emit: Emitter, symbol: str, lanes: int, operands: tuple[Register, ...]) -> Register:
    """A function that takes fewer lanes than there are, called as often as needed."""
    first = operands[0]
    results = []
    for start in range(0, first.lanes, lanes):
        if first.lanes == 1:
            given = operands
        elif lanes == 1:
            given = tuple(emit.element(x, start) for x in operands)
        else:
            given = tuple(emit.part(x, start, lanes) for x in operands)
        results.append(emit.call(symbol, given[0].full_type, given, first.type, lanes))
    return emit.joined(results)
