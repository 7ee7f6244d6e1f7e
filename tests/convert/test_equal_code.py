"""Code objects that are equal: functions of one text, made twice."""

import time

from tests.core.test_identity import code_of
from vitrify.convert.guards.named import global_names
from vitrify.convert.state.cells import names_in, stored_cells


def test_what_is_known_of_deep_code_is_found_at_once():
    """Python compares equal code twice as long with each level of functions in functions: here for hours."""
    begin = time.process_time()
    for file in ("a.py", "b.py"):
        code = code_of(file, depth=30)
        assert (names_in(code), stored_cells(code)) == (frozenset(), frozenset())
        assert global_names(code) == (frozenset(), frozenset())
    assert time.process_time() - begin < 5
