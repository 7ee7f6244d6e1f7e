"""Every program that the functions of the end-to-end table give, forward and backward, is well formed and keeps its
meaning through text, files and clones.
"""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import run
from tests.end_to_end.functions import CASES as FUNCTIONS
from tests.end_to_end.recursion import CASES as RECURSION
from tests.ir.programs import equal
from vitrify.ir.content_hash import content_hash
from vitrify.ir.dead_code import drop_unused_blocks
from vitrify.ir.parse import parse_program
from vitrify.ir.serialize import decode_program, encode_program
from vitrify.ir.ssa_blocks import block_of, graph_of
from vitrify.ir.ssa_verify import graph_text, parse_graph, verify_graph
from vitrify.ir.text import Style
from vitrify.ir.verify import verify
from vitrify.jit import segment
from vitrify.passes.pipeline import optimized

CASES = [*FUNCTIONS, *RECURSION]


@pytest.mark.parametrize(("fn", "calls"), CASES, ids=[f"{f.__name__}-{i}" for i, (f, _) in enumerate(CASES)])
def test_programs_of_converted_functions(fn, calls, monkeypatch):
    programs = {}
    lowered = []
    lower = segment.lower

    def watched(block, *args, **kwargs):
        programs[id(block.program)] = block.program
        lowered.append((block, kwargs.get("outputs")))
        return lower(block, *args, **kwargs)

    monkeypatch.setattr(segment, "lower", watched)
    # A case that is decorated already may have been run by another test: its programs would come from its cache.
    static = paddle.jit.to_static(getattr(fn, "dygraph_function", fn))
    for args in calls:
        run(static, args)
    for program in programs.values():
        check(program)
    assert programs
    for block, outputs in lowered:
        check_graph(graph_of(block, outputs=outputs))


def check_graph(graph):
    """It is well formed, reads back from its text, and is the same after a detour through Blocks, passed or not."""
    for form in (graph, optimized(graph)):
        verify_graph(form)
        text = graph_text(form, Style(details=True))
        again = parse_graph(text)
        verify_graph(again, infer=False)
        assert graph_text(again, Style(details=True)) == text
        assert graph_text(graph_of(block_of(form), pruned=False), Style(details=True)) == text


def check(program):
    verify(program)
    before = len(program.blocks)
    drop_unused_blocks(program)
    assert len(program.blocks) == before
    assert equal(parse_program(program.to_string(throw_on_error=True, with_details=True)), program)
    stored = decode_program(encode_program(program))
    assert equal(stored, program)
    assert content_hash(stored) == content_hash(program)
    assert equal(program.clone(), program)
