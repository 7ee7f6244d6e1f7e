"""The examples of docs/runtime.md run and print what the page shows."""

import re
from pathlib import Path

from vitrify import static

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"
BLOCK = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def test_the_examples_run(capsys):
    names, shown = {}, ""
    with static.scope_guard(static.Scope()):
        for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            if language == "python":
                exec(compile(text, str(PAGE), "exec"), names)
                shown = re.sub(r" +# .*", "", capsys.readouterr().out).strip()
            elif text.startswith("program\n"):
                assert shown == text.strip()
