"""The tables that say which module defines an op, a function or a reader are true."""

import subprocess
import sys


def test_everything_is_found_where_the_tables_say():
    made = subprocess.run([sys.executable, "-m", "tests.ops.homes"], capture_output=True, text=True, check=True)
    assert made.stdout == "", "python -m tests.ops.homes --write"
