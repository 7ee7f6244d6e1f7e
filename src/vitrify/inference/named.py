"""Names of a model's inputs or outputs."""

from collections.abc import Sequence


def named(names: Sequence[str]) -> list[str]:
    """The names, each once."""
    found: list[str] = []
    for name in names:
        unique, n = name, 0
        while unique in found:
            n += 1
            unique = f"{name}_{n}"
        found.append(unique)
    return found
