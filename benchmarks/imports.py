"""Time `import vitrify` and its first name in fresh interpreters, and tell what takes longest.

The import alone takes next to nothing: Tensors, ops and Layers come with the first name that is asked for.

    python -m benchmarks.imports [--rounds 7] [--limit 0.5]

The smallest time counts: what else the machine does only adds to it. Exit status 1 where that is over the limit.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

LIMIT = 0.5
_IMPORT = "import vitrify; vitrify.Tensor"
_TIMED = f"import time; start = time.process_time(); {_IMPORT}; print(time.process_time() - start)"
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+([\w.]+)")


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an interpreter that keeps bytecode, whatever the shell says: without it every import would compile."""
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=keeping)


def seconds(rounds: int) -> float:
    """Return the least processor time that the import took, bytecode and files being warm."""
    _python("-c", _TIMED)
    return min(float(_python("-c", _TIMED).stdout) for _ in range(rounds))


def shares() -> Counter[str]:
    """Return the microseconds that modules took, added up by package; ours by sub-package."""
    found: Counter[str] = Counter()
    for own, name in _LINE.findall(_python("-X", "importtime", "-c", _IMPORT).stderr):
        parts = name.split(".")
        found[".".join(parts[: 2 if parts[0] == "vitrify" else 1])] += int(own)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the time and its parts; 1 if it is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS")
    options = parser.parse_args(arguments)
    best = seconds(options.rounds)
    print(f"import vitrify: {best:.3f} s of processor time, limit {options.limit} s")
    for name, microseconds in shares().most_common(12):
        print(f"  {microseconds / 1000:7.1f} ms  {name}")
    return int(best > options.limit)


if __name__ == "__main__":
    sys.exit(main())
