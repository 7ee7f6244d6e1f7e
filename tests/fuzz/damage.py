"""Damage files of models, and see that reading them ends well: with the documented errors, or as before.

python -m tests.fuzz.damage --count 20000 --format native --seed 0
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import vitrify as paddle
from vitrify.core.errors import FileFormatError, UnsupportedError

DATA = Path(__file__).parent.parent / "data"
PAIRS = {
    "native": [(DATA / "native" / "v1" / name, ".vtmodel", ".vtparams") for name in ("net", "control")],
    "json": [(DATA / "paddle_program" / f"{name}_json", ".json", ".pdiparams") for name in ("tiny_conv", "branches")],
    "pdmodel": [
        (DATA / "paddle_program" / f"{name}_pdmodel", ".pdmodel", ".pdiparams") for name in ("tiny_conv", "branches")
    ],
}
SLOW = 5.0
WORDS = (b"\xff" * 4, b"\0" * 4, b"9999", b"\xff\xff\xff\x7f", b"\xff" * 8)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to four places flipped, cut off, overwritten, spliced or taken out."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(found))
        kind = rng.randrange(6)
        if kind == 0:
            found[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del found[max(at, 1) :]
        elif kind == 2:
            word = rng.choice(WORDS)
            found[at : at + len(word)] = word
        elif kind == 3:
            other = rng.randrange(len(found))
            found[at:at] = found[other : other + rng.randrange(40)]
        elif kind == 4 and len(found) > 20:
            del found[at : at + rng.randrange(1, 20)]
        else:
            found[at] = rng.randrange(256)
        found = found or bytearray(b"x")
    return bytes(found)


def attempt(kind: str, seed: int, folder: Path) -> str:
    """Return how reading a damaged pair of files ended: one of GOOD, or what went wrong."""
    rng = random.Random(seed)
    prefix, *endings = rng.choice(PAIRS[kind])
    contents = [Path(str(prefix) + ending).read_bytes() for ending in endings]
    which = int(rng.random() < 0.3)
    changed = list(contents)
    changed[which] = damaged(contents[which], rng)
    for ending, content in zip(endings, changed):
        (folder / ("model" + ending)).write_bytes(content)
    start = time.perf_counter()
    try:
        net = paddle.jit.load(folder / ("model" + endings[0]))
    except FileFormatError:
        end = "refused"
    except UnsupportedError:
        end = "unsupported"
    except Exception as err:  # noqa: BLE001
        end = f"{type(err).__name__}: {err}"
    else:
        end = "same" if changed == contents else "read"
        if kind == "native" and end == "read":
            end = "a damaged file was read"
        for value in net.state_dict().values():
            np.asarray(value)
    return end if time.perf_counter() - start < SLOW else "it took too long"


GOOD = frozenset(("refused", "unsupported", "same", "read"))


def main() -> int:
    """Run the attempts asked for, print how they ended, and return 1 if one did not end well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--format", choices=list(PAIRS), default="native")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.seed, given.seed + given.count):
            end = attempt(given.format, seed, Path(folder))
            ends[end] += 1
            if end not in GOOD:
                print(f"seed {seed}: {end}")
    for end, count in ends.most_common():
        print(f"{count:8} {end}")
    return int(any(end not in GOOD for end in ends))


if __name__ == "__main__":
    sys.exit(main())
