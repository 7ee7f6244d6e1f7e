"""The drawn example of docs/runtime.md is what the analyses say of that program. `--update-golden` rewrites it."""

from __future__ import annotations

import re
from pathlib import Path

import vitrify as paddle
from vitrify.ir.program import Variable
from vitrify.optimizer.rules import ADAM
from vitrify.runtime import draw
from vitrify.runtime.lowering import lower
from vitrify.runtime.on_streams import stream_plan
from vitrify.runtime.options import ExecutionOptions

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"
START, END = "<!-- drawn from here -->\n", "<!-- to here -->"
ATTRS = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "l1": 0.0, "l2": 0.0}


def training_step(**options):
    """`Linear + MSE + Adam`: one step of training, as a lowered program."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x, y = paddle.static.data("x", [64, 128]), paddle.static.data("y", [64, 32])
        weight = paddle.static.create_parameter([128, 32], "float32", name="weight")
        bias = paddle.static.create_parameter([32], "float32", name="bias")
        lr = paddle.static.data("lr", [])
        loss = paddle.nn.functional.mse_loss(paddle.nn.functional.linear(x, weight, bias), y)
        inputs, outputs = [x, y, weight, bias, lr], [loss]
        for parameter, gradient in paddle.static.append_backward(loss):
            shapes = {"moment1": parameter.shape, "moment2": parameter.shape}
            state = [
                paddle.static.create_parameter(shapes.get(name, []), "float32", name=f"{parameter.name}.{name}")
                for name in (*ADAM.arrays, *ADAM.counters)
            ]
            for value, kept in zip(ADAM.op(parameter, gradient, lr, *state, **ATTRS), (parameter, *state)):
                outputs.append(paddle.assign(value, kept))
            inputs += state
    assert all(isinstance(v, Variable) for v in inputs)
    return lower(main.global_block(), inputs, outputs, options=ExecutionOptions(**options))


def section():
    """The text of the page between its marks."""
    core = training_step(mode="streams")
    found = len(draw.all_edges([i.access for i in core.instructions]))
    kept = len(draw.find_dependencies([i.access for i in core.instructions]).edges)
    return f"""
```
{draw.drawn_instructions(core)}
```

Of {found} pairs that must keep their order {kept} need to be waited for; the dotted ones follow from those:

```mermaid
{draw.drawn_dependencies(core)}
```

On streams, in the order in which the host queues them:

```
{draw.drawn_streams(core, stream_plan(core))}
```

When buffers go:

{draw.drawn_memory(core)}

"""


def test_the_step_updates_all_that_adam_keeps():
    core = training_step(mode="trace")
    made = {slot for instruction in core.instructions for slot in instruction.writes}
    assert len(core.outputs) == 11 and set(core.outputs) <= made


def test_the_page_shows_what_the_analyses_say(request):
    page = PAGE.read_text(encoding="utf-8")
    text = section()
    if request.config.getoption("--update-golden"):
        page = re.sub(f"{START}.*{END}", lambda _: START + text + END, page, flags=re.DOTALL)
        PAGE.write_text(page, encoding="utf-8")
    assert START + text + END in page
