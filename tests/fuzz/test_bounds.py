"""The work of a first call grows with a program's branches, not with the paths through them."""

from .program import write_program
from .verdict import judge


def test_many_branches_in_a_row_that_may_share_memory():
    program = write_program(2012)
    assert judge(program.source, program.shared, full_graph=False).word == "agree"
