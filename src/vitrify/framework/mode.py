"""Which mode operators are called in, asked by the inner names of PaddlePaddle."""

from ..core.dispatch import in_dynamic_mode


def in_pir_mode() -> bool:
    """Return whether a program is being built, as `to_static` and `program_guard` do.

    >>> in_pir_mode()
    False
    """
    return not in_dynamic_mode()


def in_dynamic_or_pir_mode() -> bool:
    """Return True: operators run eagerly or are recorded, and there is no third mode.

    >>> in_dynamic_or_pir_mode()
    True
    """
    return True
