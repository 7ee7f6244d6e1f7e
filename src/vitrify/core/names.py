"""Unique names for parameters, layers and variables: `fc_0`, `fc_1`, ... (Paddle's `utils.unique_name`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Lock

from .setting import Setting


class UniqueNameGenerator:
    """Counts names per key: the n-th call with "fc" returns `prefix` + "fc_n". Safe under threads.

    >>> names = UniqueNameGenerator("net_")
    >>> names("fc"), names("fc"), names("conv")
    ('net_fc_0', 'net_fc_1', 'net_conv_0')
    """

    __slots__ = ("_counters", "_lock", "prefix")

    def __init__(self, prefix: str | None = None) -> None:
        self.prefix = prefix or ""
        self._counters: dict[str, count[int]] = {}
        self._lock = Lock()

    def generate(self, key: str) -> str:
        """Return the next unused name for `key`."""
        return self.prefix + self.numbered(key)

    def numbered(self, key: str) -> str:
        """Return the next unused name for a key that has the prefix already, or wants none."""
        with self._lock:
            number = next(self._counters.setdefault(key, count()))
        return f"{key}_{number}"

    __call__ = generate


class ParameterNames:
    """The parameter names given out so far; a call says whether a name was taken, and takes it."""

    __slots__ = ("_lock", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._lock = Lock()

    def __call__(self, name: str) -> bool:
        """Return whether `name` was used before; it counts as used from now on."""
        with self._lock:
            used = name in self._taken
            self._taken.add(name)
        return used


@dataclass(frozen=True, slots=True)
class _Namespace:
    """What `switch` exchanges: the counters and the parameter names in use."""

    generator: UniqueNameGenerator = field(default_factory=UniqueNameGenerator)
    parameters: ParameterNames = field(default_factory=ParameterNames)


_CURRENT = Setting("unique_name", _Namespace())


def generate(key: str) -> str:
    """Return a name that starts with `key` and is unique in the current namespace.

    Source: paddle.utils.unique_name.generate.

    >>> with guard("A_"):
    ...     generate("fc"), generate("fc")
    ('A_fc_0', 'A_fc_1')
    """
    return _CURRENT.get().generator.generate(key)


def generate_part(owner: str, part: str) -> str:
    """Return a name for a part of what is called `owner`, whose prefix, if any, it has.

    >>> with guard("A_"):
    ...     generate_part(generate("fc"), "w")
    'A_fc_0.w_0'
    """
    return _CURRENT.get().generator.numbered(f"{owner}.{part}")


def is_parameter_name_taken(name: str) -> bool:
    """Return whether a parameter of the current namespace had this name before; it counts as taken from now on."""
    return _CURRENT.get().parameters(name)


def switch(
    new_generator: UniqueNameGenerator | None = None, new_para_name_checker: ParameterNames | None = None
) -> tuple[UniqueNameGenerator, ParameterNames]:
    """Enter a namespace (by default a new, empty one) and return the one that was left, to switch back with.

    Prefer `guard`, which switches back by itself.
    Source: paddle.utils.unique_name.switch.

    Example:
        >>> import vitrify as paddle
        >>> before = paddle.utils.unique_name.switch()
        >>> paddle.utils.unique_name.generate("fc")
        'fc_0'
        >>> _ = paddle.utils.unique_name.switch(*before)
    """
    old = _CURRENT.get()
    _CURRENT.set(_Namespace(new_generator or UniqueNameGenerator(), new_para_name_checker or ParameterNames()))
    return old.generator, old.parameters


@contextmanager
def guard(new_generator: str | bytes | UniqueNameGenerator | None = None) -> Iterator[None]:
    """Number names from zero inside the block, in this thread or task alone; a text becomes their prefix.

    Source: paddle.utils.unique_name.guard.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.utils.unique_name.guard("block_"):
        ...     print(paddle.utils.unique_name.generate("fc"))
        block_fc_0
    """
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if not isinstance(new_generator, UniqueNameGenerator):
        new_generator = UniqueNameGenerator(new_generator)
    with _CURRENT.scope(_Namespace(new_generator)):
        yield
