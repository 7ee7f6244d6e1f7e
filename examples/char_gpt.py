"""Train a small GPT, compiled, on the text of Python's own standard library (its docstrings); then let it write.

    python examples/char_gpt.py
    python examples/char_gpt.py --steps 3000 --prompt "Python "

The model is the usual one: embeddings, causal attention, layer norm, gelu, a residual stream. It trains with AdamW,
a learning rate that warms up and then falls along a cosine, and gradients clipped by their global norm. Each training
step is one call of a `to_static` function. So is writing: a Python `while` loop that stops early when the model has
come to the end of a paragraph.
"""

from __future__ import annotations

import argparse
import ast
import math
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify import nn

SEED = 1
BLOCK = 48  # characters that the model sees at once


# --- the model -------------------------------------------------------------------------------------------------------


class Attention(nn.Layer):
    """Each position looks at itself and at those before it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        """x: [n, t, width] -> [n, t, width]."""
        n, t, width = x.shape
        parts = self.into(x).reshape([n, t, 3, self.heads, width // self.heads]).transpose([2, 0, 3, 1, 4])
        query, key, value = parts[0], parts[1], parts[2]
        scores = paddle.matmul(query, key, transpose_y=True) / math.sqrt(width // self.heads)
        future = paddle.triu(paddle.full([t, t], -1e9), 1)
        seen = paddle.matmul(F.softmax(scores + future, axis=-1), value)
        return self.out(seen.transpose([0, 2, 1, 3]).reshape([n, t, width]))


class Block(nn.Layer):
    """Attention, then a perceptron at each position, both added to what came in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attend = nn.Sequential(nn.LayerNorm(width), Attention(width, heads))
        self.think = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(approximate=True), nn.Linear(4 * width, width)
        )

    def forward(self, x: Any) -> Any:
        """x: [n, t, width] -> [n, t, width]."""
        x = x + self.attend(x)
        return x + self.think(x)


class GPT(nn.Layer):
    """Scores of the next character at every position."""

    def __init__(self, letters: int, width: int = 128, heads: int = 4, depth: int = 2) -> None:
        super().__init__()
        spread = paddle.ParamAttr(initializer=nn.initializer.Normal(0.0, 0.3))
        self.letter = nn.Embedding(letters, width, weight_attr=spread)
        self.place = nn.Embedding(BLOCK, width, weight_attr=spread)
        self.blocks = nn.LayerList([Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.next = nn.Linear(width, letters)

    def forward(self, text: Any) -> Any:
        """text: [n, t] int64 -> [n, t, letters]."""
        x = self.letter(text) + self.place(paddle.arange(text.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.next(self.norm(x))


@paddle.jit.to_static
def loss_of(model: GPT, text: Any, following: Any) -> Any:
    """The mean cross entropy of the characters that follow."""
    scores = model(text)
    return F.cross_entropy(scores.reshape([-1, scores.shape[-1]]), following.reshape([-1]))


@paddle.jit.to_static
def write(model: GPT, text: Any, newline: int, most: int, temperature: float) -> Any:
    """`text` [1, t] with up to `most` characters more; stops at the first empty line."""
    wanted = text.shape[1] + most
    last = text[:, -1]
    ended = paddle.zeros([1], "bool")
    while text.shape[1] < wanted and not ended:
        scores = model(text[:, -BLOCK:])[:, -1] / temperature
        letter = paddle.multinomial(F.softmax(scores, axis=-1), 1)
        text = paddle.concat([text, letter], axis=1)
        ended = paddle.logical_and(last == newline, letter[:, 0] == newline)
        last = letter[:, 0]
    return text


# --- the text --------------------------------------------------------------------------------------------------------


def docstrings() -> Iterator[str]:
    """What the standard library says of itself: modules, classes and functions in order."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                text = ast.get_docstring(node)
                if text and text.isascii():
                    yield text


class Corpus:
    """Text as numbers, one for each different character."""

    def __init__(self) -> None:
        text = "\n\n".join(docstrings())
        self.letters = sorted(set(text))
        self.number = {letter: i for i, letter in enumerate(self.letters)}
        codes = np.array([self.number[letter] for letter in text])
        self.training, self.held_out = codes[: -len(codes) // 20], codes[-len(codes) // 20 :]

    def batch(self, source: np.ndarray, size: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Pieces of text from random places, and the same one character later: [size, BLOCK] each."""
        starts = rng.integers(0, len(source) - BLOCK - 1, size)
        pieces = np.stack([source[start : start + BLOCK + 1] for start in starts])
        return paddle.to_tensor(pieces[:, :-1]), paddle.to_tensor(pieces[:, 1:])

    def encode(self, text: str) -> Any:
        """Text as [1, t]; characters that the corpus lacks are left out."""
        return paddle.to_tensor([[self.number[letter] for letter in text if letter in self.number]])

    def decode(self, codes: Any) -> str:
        """[1, t] as text."""
        return "".join(self.letters[code] for code in codes[0].tolist())


# --- training --------------------------------------------------------------------------------------------------------


def make_optimizer(model: GPT, steps: int) -> Any:
    """AdamW with warm-up, cosine decay and clipping; only matrices decay."""
    falling = paddle.optimizer.lr.CosineAnnealingDecay(4e-3, steps, eta_min=1e-4)
    schedule = paddle.optimizer.lr.LinearWarmup(falling, max(1, steps // 20), 1e-5, 4e-3)
    matrices = {p.name for p in model.parameters() if p.ndim > 1}
    optimizer = paddle.optimizer.AdamW(
        schedule,
        beta2=0.95,
        parameters=model.parameters(),
        weight_decay=0.05,
        apply_decay_param_fun=matrices.__contains__,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    return optimizer, schedule


def train(model: GPT, corpus: Corpus, steps: int, size: int) -> None:
    """Train for `steps` steps, showing the loss on the way."""
    rng = np.random.default_rng(SEED)
    optimizer, schedule = make_optimizer(model, steps)
    shown = math.log(len(corpus.letters))
    with tqdm(range(steps), "training", ncols=100) as bar:
        for _ in bar:
            loss = loss_of(model, *corpus.batch(corpus.training, size, rng))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            schedule.step()
            shown += 0.05 * (loss.item() - shown)
            bar.set_postfix(loss=f"{shown:.3f}", refresh=False)


def evaluate(model: GPT, corpus: Corpus) -> float:
    """The mean loss on held-out text, in bits for each character."""
    rng = np.random.default_rng(SEED)
    with paddle.no_grad():
        losses = [loss_of(model, *corpus.batch(corpus.held_out, 32, rng)).item() for _ in range(8)]
    return float(np.mean(losses)) / math.log(2)


def show_writing(model: GPT, corpus: Corpus, prompts: list[str], most: int) -> None:
    """Print what the model writes after each prompt."""
    for prompt in prompts:
        begin = time.perf_counter()
        with paddle.no_grad():
            written = write(model, corpus.encode(prompt), corpus.number["\n"], most, 0.6)
        text = corpus.decode(written)
        speed = (len(text) - len(prompt)) / (time.perf_counter() - begin)
        print(f"\n--- {prompt!r}, {len(text) - len(prompt)} characters, {speed:.0f} a second")
        print(text.rstrip())


def main() -> None:
    """Train, say how well it predicts, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1300, help="training steps, default: %(default)s")
    parser.add_argument("--batch", type=int, default=24, help="pieces of text a step, default: %(default)s")
    parser.add_argument("--prompt", action="append", help="what to go on from; may be given several times")
    parser.add_argument("--length", type=int, default=400, help="characters to write, default: %(default)s")
    options = parser.parse_args()

    paddle.seed(SEED)
    corpus = Corpus()
    model = GPT(len(corpus.letters))
    weights = sum(p.size for p in model.parameters())
    print(f"{len(corpus.training):,} characters, {len(corpus.letters)} different; {weights:,} weights")
    train(model, corpus, options.steps, options.batch)
    model.eval()
    bits = evaluate(model, corpus)
    print(f"held-out text: {bits:.2f} bits a character, of {math.log2(len(corpus.letters)):.2f} without training")
    show_writing(model, corpus, options.prompt or ["Return ", "This module ", "If the "], options.length)
    assert bits < math.log2(len(corpus.letters)), "training should help"


if __name__ == "__main__":
    main()
