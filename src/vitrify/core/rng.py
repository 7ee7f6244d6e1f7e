"""Random generators: seeds, positions and states. The numbers themselves come from `philox`."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from .errors import ArgumentError
from .philox import Key
from .setting import Setting

# Draws start at multiples of a block's four words, so that vector code never has to split a block.
_ALIGN = 4
_SEED_MASK = 0xFFFFFFFFFFFFFFFF


class Generator:
    """A seed and a position in its stream of random words; each draw takes the next range of words. Thread-safe.

    >>> generator = Generator(seed=42)
    >>> generator.advance(10), generator.advance(1)
    (Key(seed=42, offset=0), Key(seed=42, offset=12))
    """

    __slots__ = ("_lock", "_offset", "_seed")

    def __init__(self, seed: int | None = None) -> None:
        self._lock = Lock()
        self._seed = secrets.randbits(63) if seed is None else int(seed) & _SEED_MASK
        self._offset = 0

    def advance(self, words: int) -> Key:
        """Return the key of a draw of this many 32-bit words, and move past them; no other draw gets any of them."""
        with self._lock:
            key = Key(self._seed, self._offset)
            self._offset += -(-words // _ALIGN) * _ALIGN
        return key

    def give_back(self, key: Key, words: int) -> None:
        """Undo the draw `key` of so many words that were not used, unless others have drawn since."""
        with self._lock:
            if (self._seed, self._offset) == (key.seed, key.offset + -(-words // _ALIGN) * _ALIGN):
                self._offset = key.offset

    def take(self, key: Key, words: int) -> bool:
        """Move past so many words behind `key`; return whether it was still the state, else nothing is done."""
        with self._lock:
            is_next = (self._seed, self._offset) == (key.seed, key.offset)
            if is_next:
                self._offset += -(-words // _ALIGN) * _ALIGN
        return is_next

    def manual_seed(self, seed: int) -> "Generator":
        """Start the stream of `seed` from its beginning and return this generator."""
        self.set_state(Key(int(seed) & _SEED_MASK))
        return self

    def seed(self) -> int:
        """Start the stream of a seed taken from the operating system, and return that seed."""
        return self.manual_seed(secrets.randbits(63)).initial_seed()

    def initial_seed(self) -> int:
        """Return the seed of the current stream."""
        return self._seed

    def get_state(self) -> Key:
        """Return the state: seed and position. A generator set to it draws the same numbers again."""
        with self._lock:
            return Key(self._seed, self._offset)

    def set_state(self, state: Key) -> None:
        """Continue from a state that `get_state` returned."""
        with self._lock:
            self._seed, self._offset = state.seed, state.offset

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed}, offset={self._offset})"


_CURRENT = Setting("generator", Generator())


def default_generator() -> Generator:
    """Return the generator that random operations draw from here."""
    return _CURRENT.get()


def seed(seed: int) -> Generator:
    """Seed the default generator and return it. Source: paddle.seed.

    >>> seed(3).initial_seed()
    3
    """
    return _CURRENT.get().manual_seed(seed)


def get_rng_state(device: object = None) -> list[Key]:
    """Return the default generator's state, in a list as Paddle does: one a device; ours is one for all of them.

    Source: paddle.get_rng_state.

    Example:
        >>> import vitrify as paddle
        >>> state = paddle.get_rng_state()
        >>> first = paddle.rand([2])
        >>> paddle.set_rng_state(state)
        >>> (paddle.rand([2]) == first).all().item()
        True
    """
    return [_CURRENT.get().get_state()]


def set_rng_state(state_list: Sequence[Key], device: object = None) -> None:
    """Continue the default generator from what `get_rng_state` returned; raises ArgumentError for other lists.

    Source: paddle.set_rng_state.

    Example:
        >>> import vitrify as paddle
        >>> state = paddle.get_rng_state()
        >>> first = paddle.rand([2])
        >>> paddle.set_rng_state(state)
        >>> (paddle.rand([2]) == first).all().item()
        True
    """
    if len(state_list) != 1:
        raise ArgumentError(
            f"set_rng_state takes the list that get_rng_state returns, of 1 state, not {len(state_list)}"
        )
    _CURRENT.get().set_state(state_list[0])


@contextmanager
def rng_guard(generator: Generator | int) -> Iterator[Generator]:
    """Draw from `generator`, or a new one with that seed, inside the block, in this thread or task alone.

    >>> with rng_guard(5) as generator:
    ...     default_generator() is generator
    True
    """
    with _CURRENT.scope(generator if isinstance(generator, Generator) else Generator(generator)) as current:
        yield current
