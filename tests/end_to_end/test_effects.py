"""Exceptions of the table `effects`: class, message, arguments, attributes and cause, in the order of the prints."""

import pytest

import vitrify as paddle
from vitrify.core.errors import VitrifyError

from .differential import content, outcomes
from .tables import cases_of

CASES = cases_of("effects")


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_exceptions_are_alike(case):
    static = paddle.jit.to_static(case.function, full_graph=True)
    for eager, compiled in outcomes(case.function, static, case.calls):
        assert described(eager.error) == described(compiled.error)
        assert eager.printed == compiled.printed


def described(err):
    if err is None or isinstance(err, VitrifyError):
        return type(err)
    kept = {k: v for k, v in vars(err).items() if k != "__notes__" and not k.startswith("_")}
    held = content([list(err.args), kept], {})
    return type(err), str(err), repr(held), described(err.__cause__), err.__suppress_context__
