"""The code of docs/training.md runs, block after block."""

import linecache
import re
import types
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "training.md"


def test_the_page_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    module = types.ModuleType("training_page")
    for number, block in enumerate(blocks):
        name = f"docs/training.md, block {number}"
        linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)  # to_static reads the source
        exec(compile(block, name, "exec"), module.__dict__)
