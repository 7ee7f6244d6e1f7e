"""Parts of split functions are compiled however small, so that what the tests look at is there."""

import pytest

from vitrify.jit.split import SMALLEST_PART


@pytest.fixture(autouse=True)
def compiled_however_small():
    """Let no segment stay Python for being small."""
    before = SMALLEST_PART.get()
    SMALLEST_PART.set(0)
    yield before
    SMALLEST_PART.set(before)
