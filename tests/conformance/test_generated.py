"""Cases made by rule: what they start from, what is varied, and that they travel to a process without vitrify."""

import inspect
import pickle
import subprocess
import sys

import pytest

from tests.conformance.generated.bases import Base, bases_of
from tests.conformance.generated.names import public_names
from tests.conformance.generated.vary import values_for, variations
from tests.conformance.peer import Runner, question_of
from tests.peers import ROOT

NAMES = {name.path: name for name in public_names()}


def texts(path):
    return {case.text for base in bases_of(NAMES[path]) for case in variations(NAMES[path], base)}


def test_what_is_public_is_found_and_what_changes_settings_is_not():
    assert {"paddle.concat", "paddle.nn.functional.conv2d", "Tensor.sum", "paddle.nn.Linear"} <= set(NAMES)
    assert not {"paddle.set_device", "paddle.seed", "paddle.enable_static", "Tensor.register_hook"} & set(NAMES)
    assert len(NAMES) == len(public_names())


def test_each_thing_is_varied_alone():
    found = texts("paddle.sum")
    assert {"paddle.sum(int8[2,3,4])", "paddle.sum(float32[])", "paddle.sum(float32[2,3,0])", "paddle.sum(None)",
            "paddle.sum(float32[2,3,4], axis=-5)", "paddle.sum(float32[2,3,4], keepdim=True)"} <= found  # fmt: skip
    assert any("axis=" in text and "keepdim=" in text for text in found)
    assert any("float32" in text and "float64" in text for text in texts("paddle.add"))


def test_layers_are_called_with_settings_that_fit():
    (base,) = bases_of(NAMES["paddle.nn.Linear"])
    assert base == Base(base.args, {"in_features": 3, "out_features": 5})
    assert any("bias_attr=False" in text for text in texts("paddle.nn.Linear"))


@pytest.mark.parametrize(("default", "tried"), [(True, False), (1, -1), (0.5, "text"), ("mean", "bogus"), (None, 1)])
def test_values_follow_the_default(default, tried):
    parameter = inspect.Parameter("of_no_known_name", inspect.Parameter.KEYWORD_ONLY, default=default)
    assert tried in values_for(parameter)
    assert default not in [value for value in values_for(parameter) if type(value) is type(default)]


def test_cases_travel_by_value_and_need_no_vitrify_to_be_read():
    name = NAMES["paddle.nn.Linear"]
    case = next(variations(name, bases_of(name)[0]))
    code = "import pickle, sys; pickle.load(sys.stdin.buffer); assert 'vitrify' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(case), check=True, cwd=ROOT)
    with Runner(sys.executable, "vitrify", 20.0) as runner:
        runner.ask(question_of("generated", 0, case))
        assert runner.answer()["kind"] == "value"
