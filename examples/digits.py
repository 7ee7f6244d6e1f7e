"""Train one classifier of handwritten digits three ways: eager, compiled as a whole, with one compiled segment.

    python examples/digits.py

The 1,797 real digits are those that scikit-learn ships. The model has Python control flow that depends on data: an
`if` on a tensor, and a refinement loop that a tensor condition stops. The three ways give the same loss curves; the
table at the end says what each costs, runs/digits.png shows both. Then the compiled model is saved, and a new Python
process that has never seen this file loads it and gives the same answers.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify import nn

matplotlib.use("Agg")

# In float32 sums in another order end the loop one turn earlier for one batch in thousands, and from there on two runs
# learn apart.
paddle.set_default_dtype("float64")

SEED = 7
EPOCHS = 15
BATCH = 64
WAYS = {
    "eager": "eager",
    "whole": "to_static, whole model",
    "segment": "eager, one compiled segment",
}


# --- the model -------------------------------------------------------------------------------------------------------


class Reader(nn.Layer):
    """Looks at an image, then thinks about what it saw until its mind stops changing."""

    def __init__(self, channels: int = 16, width: int = 64, patience: int = 12, tolerance: float = 0.02) -> None:
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2D(1, channels, 3, padding=1),
            nn.BatchNorm2D(channels),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Conv2D(channels, 2 * channels, 3, padding=1),
            nn.BatchNorm2D(2 * channels),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Flatten(),
        )
        self.seen = nn.Linear(8 * channels, width)
        self.thought = nn.Linear(width, width)
        self.answer = nn.Linear(width, 10)
        self.patience = patience
        self.tolerance = tolerance

    def think(self, seen: Any) -> Any:
        """A state of mind that agrees with itself; how long that takes depends on the image."""
        mind = paddle.tanh(seen)
        for _ in range(self.patience):
            before = mind
            mind = paddle.tanh(seen + self.thought(before))
            if (mind - before).abs().mean() < self.tolerance:
                break
        return mind

    def forward(self, image: Any) -> Any:
        """image: [n, 1, 8, 8] of 0 to 1 -> scores [n, 10]."""
        if image.mean() > 0.5:  # dark ink on light paper: make it light on dark
            image = 1.0 - image
        return self.answer(self.think(self.seen(self.look(image))))


def build(way: str) -> Reader:
    """The model, the same numbers each time, run in one of WAYS."""
    paddle.seed(SEED)
    model = Reader()
    if way == "whole":
        return paddle.jit.to_static(model, input_spec=[paddle.static.InputSpec([None, 1, 8, 8], "float64")])
    if way == "segment":
        model.think = paddle.jit.to_static(model.think)
    return model


# --- the data --------------------------------------------------------------------------------------------------------


class Digits(paddle.io.Dataset):
    """Images and labels; for training, each image moved sideways by at most one pixel."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, moving: bool) -> None:
        self.images = images
        self.labels = labels
        self.moving = moving

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        image = self.images[index]
        return (np.roll(image, np.random.randint(-1, 2), axis=2) if self.moving else image), int(self.labels[index])

    def __len__(self) -> int:
        return len(self.images)


def load() -> tuple[Digits, Digits]:
    """Digits to train on and digits held out."""
    digits = load_digits()
    images = (digits.images[:, None] / 16.0).astype(np.float64)
    split = train_test_split(images, digits.target, test_size=0.2, random_state=0, stratify=digits.target)
    return Digits(split[0], split[2], moving=True), Digits(split[1], split[3], moving=False)


def batches(data: Digits, epochs: int) -> Iterator[tuple[Any, Any]]:
    """Shuffled batches; every fourth one is dark on light."""
    np.random.seed(SEED)
    loader = paddle.io.DataLoader(data, batch_size=BATCH, shuffle=True)
    for _ in range(epochs):
        for number, (image, label) in enumerate(loader):
            yield (1.0 - image if number % 4 == 3 else image), label


# --- training --------------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """What training in one way gave."""

    model: Reader
    optimizer: paddle.optimizer.AdamW
    losses: list[float] = field(default_factory=list)
    first: float = 0.0  # milliseconds of the first step, which compiles
    usual: float = 0.0  # milliseconds of a step
    accuracy: float = 0.0

    def step(self, image: Any, label: Any) -> float:
        """Do one training step; returns how many milliseconds it took."""
        begin = time.perf_counter()
        loss = F.cross_entropy(self.model(image), label)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        elapsed = time.perf_counter() - begin
        self.losses.append(loss.item())
        return 1e3 * elapsed


def train(way: str, data: Digits, epochs: int) -> Run:
    """Train the model in one way."""
    model = build(way)
    total = epochs * -(-len(data) // BATCH)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.005, total)
    run = Run(model, paddle.optimizer.AdamW(schedule, parameters=model.parameters(), weight_decay=0.05))
    model.train()
    with tqdm(batches(data, epochs), WAYS[way].rjust(27), total, ncols=100, mininterval=0.2) as bar:
        for image, label in bar:
            elapsed = run.step(image, label)
            run.first = run.first or elapsed
            schedule.step()
            bar.set_postfix(loss=f"{run.losses[-1]:.3f}", refresh=False)
    return run


def measure(runs: dict[str, Run], data: Digits, rounds: int = 40) -> None:
    """Time the ways against each other: in each round one step of every way, on the same batch; then the medians."""
    times: dict[str, list[float]] = {way: [] for way in runs}
    for run in runs.values():
        run.model.train()
    for image, label in tqdm(islice(cycle(batches(data, 1)), rounds), "timing".rjust(27), rounds, ncols=100):
        for way, run in runs.items():
            times[way].append(run.step(image, label))
    for way, run in runs.items():
        run.usual = statistics.median(times[way])
        del run.losses[-rounds:]


def scores(model: Any, images: np.ndarray) -> np.ndarray:
    """The model's scores, without gradients."""
    model.eval()
    with paddle.no_grad():
        return model(paddle.to_tensor(images)).numpy()


def evaluate(model: Any, data: Digits) -> float:
    """The share of held-out digits read right; the same for their negatives."""
    metric = paddle.metric.Accuracy()
    found = scores(model, data.images)
    metric.update(metric.compute(paddle.to_tensor(found), paddle.to_tensor(data.labels)))
    assert np.array_equal(found.argmax(1), scores(model, 1.0 - data.images).argmax(1))
    return metric.accumulate()


# --- what came out ---------------------------------------------------------------------------------------------------


def print_table(runs: dict[str, Run]) -> None:
    """Accuracy, first step, usual step and speed-up of each way."""
    print(f"\n{'way':<29}{'accuracy':>9}{'first step':>13}{'a step':>11}{'speed-up':>10}")
    for way, run in runs.items():
        speed_up = runs["eager"].usual / run.usual
        print(f"{WAYS[way]:<29}{run.accuracy:>9.1%}{run.first:>10.1f} ms{run.usual:>8.2f} ms{speed_up:>9.2f}x")


def largest_difference(runs: dict[str, Run]) -> float:
    """How far the loss curves are apart at most."""
    curves = np.array([run.losses for run in runs.values()])
    return float((curves.max(0) - curves.min(0)).max())


COLORS = {"eager": "#94a3b8", "whole": "#2563eb", "segment": "#f97316"}
LINES: dict[str, Any] = {"eager": (7.0, "-"), "whole": (2.6, "-"), "segment": (2.6, (0, (1.0, 2.2)))}


def smooth(losses: list[float], width: int = 9) -> np.ndarray:
    """The running mean of a curve."""
    padded = np.pad(losses, width // 2, mode="edge")
    return np.convolve(padded, np.full(width, 1 / width), mode="valid")


def draw(runs: dict[str, Run], path: Path) -> None:
    """Loss curves and time a step, side by side."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), width_ratios=(3, 2), layout="constrained")
    draw_losses(left, runs)
    draw_times(right, runs)
    for axes, hidden in ((left, ("top", "right")), (right, ("top", "right", "bottom"))):
        axes.spines[list(hidden)].set_visible(False)
        axes.spines[:].set_color("#cbd5e1")
        axes.tick_params(colors="#334155", which="both")
    figure.savefig(path, dpi=150, facecolor="white")
    plt.close(figure)


def draw_losses(axes: Any, runs: dict[str, Run]) -> None:
    """The curves on top of each other, drawn so that each can be seen."""
    for way, run in runs.items():
        axes.plot(run.losses, color=COLORS[way], linewidth=0.8, alpha=0.25)
        width, dashes = LINES[way]
        axes.plot(smooth(run.losses), color=COLORS[way], linewidth=width, linestyle=dashes, label=WAYS[way])
    axes.set_title("Training loss: the three curves are one", loc="left", fontweight="bold", color="#0f172a")
    axes.set(xlabel="step", yscale="log", xlim=(0, max(len(runs["eager"].losses) - 1, 1)))
    axes.legend(frameon=False, loc="upper right")
    axes.grid(axis="y", which="major", color="#e2e8f0")


def draw_times(axes: Any, runs: dict[str, Run]) -> None:
    """A bar for each way."""
    usual = [run.usual for run in runs.values()]
    names = [WAYS[way].replace(", ", ",\n") for way in runs]
    bars = axes.barh(names, usual, color=[COLORS[way] for way in runs], height=0.58)
    labels = [f"{time:.2f} ms   {usual[0] / time:.1f}x" for time in usual]
    axes.bar_label(bars, labels, padding=6, color="#0f172a")
    axes.set_title("Time a training step", loc="left", fontweight="bold", color="#0f172a")
    axes.set(xlim=(0, 1.45 * max(usual)), xticks=[])
    axes.invert_yaxis()
    axes.tick_params(length=0)


# --- saving, and loading elsewhere -----------------------------------------------------------------------------------

ELSEWHERE = """
import sys
import numpy as np
import vitrify as paddle

program, images, answers = sys.argv[1:]
assert "Reader" not in globals()  # the class of the model is unknown here
model = paddle.jit.load(program)
model.eval()
np.save(answers, model(paddle.to_tensor(np.load(images))).numpy())
"""


def scores_elsewhere(model: Any, images: np.ndarray, program: Path) -> np.ndarray:
    """The scores that a new process computes with the saved model, in a folder where this file is not."""
    model.eval()
    paddle.jit.save(model, str(program))
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "images.npy"), Path(folder, "answers.npy")
        np.save(asked, images)
        arguments = [str(program.resolve()), str(asked), str(answered)]
        subprocess.run([sys.executable, "-c", ELSEWHERE, *arguments], cwd=folder, check=True)
        return np.load(answered)


def main() -> None:
    """Train three ways, compare, save, load elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder to write to, default: %(default)s")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    training, held_out = load()
    print(f"{len(training)} digits to train on, {len(held_out)} held out")
    runs = {way: train(way, training, options.epochs) for way in WAYS}
    for run in runs.values():
        run.accuracy = evaluate(run.model, held_out)
    program = options.out / "digits"
    here = scores(runs["whole"].model, held_out.images)
    there = scores_elsewhere(runs["whole"].model, held_out.images, program)

    measure(runs, training)  # goes on training, so it comes last
    print_table(runs)
    apart = largest_difference(runs)
    print(f"\nloss curves differ by at most {apart:.1e}")
    picture = options.out / "digits.png"
    draw(runs, picture)
    print(f"picture: {picture}")

    same = int((here.argmax(1) == there.argmax(1)).sum())
    print(f"saved: {program}; a new process without the source gives {same} of {len(here)} equal predictions")

    assert apart < 1e-9, "the three ways should learn the same"
    assert same == len(here), "the saved model should answer the same"
    if options.epochs >= EPOCHS:
        assert min(run.accuracy for run in runs.values()) >= 0.97, "97 % of the held-out digits should be read right"


if __name__ == "__main__":
    main()
