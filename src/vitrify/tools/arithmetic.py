"""How much arithmetic a model takes by operators: counted in a run, so that loops count as often as they turn."""

from __future__ import annotations

import argparse
from collections import Counter

from ..core.errors import VitrifyError
from ..core.timeline import TIMELINE, Timeline, TracerEventType
from ..inference import Config, Predictor
from .progress import stage
from .run import inputs_of, run


def text_of(path: str, given: argparse.Namespace) -> list[str]:
    """Lines that say the FLOPs of `forward` for inputs of the size asked for, in all and by operator."""
    try:
        predictor, counts = counted(path, given)
    except (VitrifyError, ValueError, OSError, ArithmeticError) as err:
        reason = str(err).splitlines()[0]
        return [f"FLOPs unknown: the model does not run on random inputs with --size {given.size} ({reason})"]
    shapes = [[given.size if s < 0 else s for s in shape] for shape in predictor.get_input_tensor_shape().values()]
    total = sum(counts.values())
    lines = [f"{total:,} FLOPs for inputs of {', '.join(map(str, shapes))} (--size {given.size} for open sizes)"]
    width = max((len(f"{count:,}") for count in counts.values()), default=0)
    lines += [f"  {count:>{width},}  {name}  {count / total:.1%}" for name, count in counts.most_common() if count]
    return lines


def counted(path: str, given: argparse.Namespace) -> tuple[Predictor, Counter[str]]:
    """The model, and the operations of one run by the names of its operators."""
    config = Config(path)
    config.switch_ir_optim(False)  # operators as they were saved, none fused
    predictor = Predictor(config)
    timeline = Timeline(with_flops=True)
    arrays = inputs_of(predictor, given)
    with stage("counting operations"), TIMELINE.scope(timeline):
        run(predictor, arrays)
    counts: Counter[str] = Counter()
    for event in timeline.events():
        if event.kind is TracerEventType.Instruction:
            counts[event.name] += int(event.args.get("flops", 0))
    return predictor, counts
