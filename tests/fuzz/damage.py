"""Damage files of models, and see that reading them ends well: with the documented errors, or as before.

python -m tests.fuzz.damage --count 20000 --format native --seed 0

In files of the format `sealed`, which is our own, programs and descriptions are damaged and the checksums made right
again, so that what lies behind the checksums is tried too. Memory is limited as well as time.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify.core.container import read_container, write_container
from vitrify.core.errors import FileFormatError, UnsupportedError
from vitrify.ir.model_file import MODEL

DATA = Path(__file__).parent.parent / "data"


def paddles(ending: str) -> list[tuple[Path | str, ...]]:
    """Return the pairs of one of Paddle's formats: those that PaddlePaddle wrote, and ours, with their checksums."""
    by_paddle = [DATA / "paddle_program" / f"{name}_{ending}" for name in ("tiny_conv", "branches")]
    ours = [DATA / "paddle_written" / f"{name}_{ending}" for name in ("tiny_conv", "branches")]
    return [(path, f".{ending}", ".pdiparams") for path in (*by_paddle, *ours)]


PAIRS = {
    "native": [(DATA / "native" / "v1" / name, ".vtmodel", ".vtparams") for name in ("net", "control")],
    "json": paddles("json"),
    "pdmodel": paddles("pdmodel"),
    "onnx": [
        *[(DATA / "onnx" / name, ".onnx") for name in ("tiny_conv", "tiny_transformer", "branches")],
        (DATA / "onnx_external" / "model", ".onnx", ".onnx.data"),
    ],
}
PAIRS["sealed"] = PAIRS["native"]
SLOW = 5.0
MEMORY = 1 << 30  # bytes of address space that reading a file of some kilobytes may take at most
WORDS = (b"\xff" * 4, b"\0" * 4, b"9999", b"\xff\xff\xff\x7f", b"\xff" * 8)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to four places flipped, cut off, overwritten, spliced or taken out: never the same."""
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
    return bytes(found) if found != data else damaged(data, rng)


def sealed(data: bytes, rng: random.Random, folder: Path) -> bytes:
    """Return a model file of which a program or the description is damaged, with right checksums."""
    whole = folder / "whole"
    whole.write_bytes(data)
    found = read_container(whole, MODEL)
    blocks = [bytes(block) for block in found.blocks]
    content = found.content
    if rng.random() < 0.7:
        which = rng.randrange(len(blocks))
        blocks[which] = damaged(blocks[which], rng)
    else:
        content = twisted(content, rng)
    write_container(whole, MODEL, content, blocks)
    return whole.read_bytes()


def twisted(content: object, rng: random.Random) -> object:
    """Return JSON data with one value in it exchanged for another of its values, or for one that fits nowhere."""
    content = json.loads(json.dumps(content))
    places = list(places_in(content))
    holder, key = rng.choice(places)
    other, at = rng.choice(places)
    strange = (-1, 1 << 62, None, "", [], {}, True, 0.5, "\0", [[[[]]]])
    holder[key] = json.loads(json.dumps(other[at])) if rng.random() < 0.4 else rng.choice(strange)
    return content


def places_in(value: object) -> Iterator[tuple[Any, Any]]:
    """Yield the container and the key of each value within."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places_in(value[key])


def attempt(kind: str, seed: int, folder: Path) -> str:
    """Return how reading a damaged pair of files ended: one of GOOD, or what went wrong."""
    rng = random.Random(seed)
    prefix, *endings = rng.choice(PAIRS[kind])
    contents = [Path(str(prefix) + ending).read_bytes() for ending in endings]
    which = int(rng.random() < 0.3) % len(endings)
    changed = list(contents)
    if kind == "sealed":
        changed[0] = sealed(contents[0], rng, folder)
    else:
        changed[which] = damaged(contents[which], rng)
    for ending, content in zip(endings, changed):
        (folder / ("model" + ending)).write_bytes(content)
    start = time.process_time()  # other programs may hold this one up
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
    return end if time.process_time() - start < SLOW else "it took too long"


GOOD = frozenset(("refused", "unsupported", "same", "read"))


@contextmanager
def limited_memory() -> Iterator[None]:
    """Let this process take MEMORY more than it has; what would take more raises MemoryError.

    Sound files are read before, for the modules that are imported when they are first needed.
    """
    for pairs in PAIRS.values():
        for prefix, ending, *_ in pairs:
            paddle.jit.load(str(prefix) + ending)
    before = resource.getrlimit(resource.RLIMIT_AS)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def main() -> int:
    """Run the attempts asked for, print how they ended, and return 1 if one did not end well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--format", choices=list(PAIRS), default="native")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    ends: Counter[str] = Counter()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, limited_memory():
        for seed in range(given.seed, given.seed + given.count):
            end = attempt(given.format, seed, Path(folder))
            ends[end] += 1
            if end not in GOOD and ends[end] < 3:
                print(f"seed {seed}: {end}")
    for end, count in ends.most_common():
        print(f"{count:8} {end}")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{time.perf_counter() - began:.0f} s, at most {most} MiB of memory in this process")
    return int(any(end not in GOOD for end in ends))


if __name__ == "__main__":
    sys.exit(main())
