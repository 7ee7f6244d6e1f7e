"""The code of docs/static.md runs, block after block."""

import re
import types
from pathlib import Path

import vitrify as paddle
from vitrify import static

PAGE = Path(__file__).parent.parent.parent / "docs" / "static.md"


def test_the_tutorial_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 5
    module = types.ModuleType("tutorial")
    try:
        with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard():
            for number, block in enumerate(blocks):
                exec(compile(block, f"docs/static.md, block {number}", "exec"), module.__dict__)
    finally:
        paddle.disable_static()
