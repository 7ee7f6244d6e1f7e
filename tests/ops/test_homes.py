"""The table that says which module defines an op is true."""

import subprocess
import sys

from tests.ops.homes import PAGE


def test_every_op_is_found_where_the_table_says():
    made = subprocess.run([sys.executable, "-m", "tests.ops.homes"], capture_output=True, text=True, check=True)
    assert made.stdout == PAGE.read_text(encoding="utf-8"), "python -m tests.ops.homes --write"
