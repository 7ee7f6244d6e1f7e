"""Cases made by rule, not by hand: each public function, Tensor method and Layer of vitrify, its arguments varied.

`names` lists what is public, with its parameters; `bases` finds a call of each that works; `vary` changes one thing of
that call at a time (dtypes, shapes, each keyword alone, pairs of keywords, axes out of range, values of wrong types).
Nothing here is specific to an API but `names.LEFT_OUT`. Cases travel to the frameworks by value.
"""

from __future__ import annotations

from functools import cache

from tests.conformance.spec import Case

TABLE = "generated"


@cache
def generated_cases() -> tuple[Case, ...]:
    """Return all cases, always in the same order."""
    from tests.conformance.generated.bases import bases_of  # needs vitrify, which the peer's environment lacks
    from tests.conformance.generated.names import public_names
    from tests.conformance.generated.vary import variations

    return tuple(case for name in public_names() for base in bases_of(name) for case in variations(name, base))
