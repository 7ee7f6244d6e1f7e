"""Decoding step by step: the loop, what it asks of a decoder, and beam search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.converted_too import converted_too
from ..core.lazy import lazy_module
from ..ir.builder import is_written_by_hand
from ..ops.creation import arange, full
from ..ops.expand import expand
from ..ops.gather import take_along_axis
from ..ops.gather_tree import gather_tree
from ..ops.join import stack
from ..ops.like import full_like, zeros_like
from ..ops.select import where
from ..ops.shape import reshape, unsqueeze
from ..ops.sizes import size_of
from ..ops.sort import topk
from . import functional as F

_jit = lazy_module("vitrify.jit.api")  # which imports the converter, and eager programs need none
_NEVER = -1e9  # the log probability of what a beam may not do, as in Paddle


def _mapped(function: Callable[..., Any], nest: Any, *others: Any) -> Any:
    """The nest with the function applied to its tensors, together with those of the others."""
    if isinstance(nest, dict):
        return {key: _mapped(function, nest[key], *(other[key] for other in others)) for key in nest}
    if not isinstance(nest, (list, tuple)):
        return function(nest, *others)
    found = [_mapped(function, *parts) for parts in zip(nest, *others)]
    return type(nest)(*found) if hasattr(nest, "_fields") else type(nest)(found)


class Decoder:
    """What `dynamic_decode` runs. Source: paddle.nn.decode.Decoder."""

    def initialize(self, inits: Any) -> tuple[Any, Any, Any]:
        """The first inputs, the first states, and which sequences are finished from the start."""
        raise NotImplementedError(f"{type(self).__name__} needs a method initialize")

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """Outputs, states, inputs of the next step and which sequences are finished. time: [1] int64."""
        raise NotImplementedError(f"{type(self).__name__} needs a method step")

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The final outputs and states, from the outputs of all steps, [T, N, *]."""
        return outputs, final_states

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` says again of finished sequences that they are; else they stay so."""
        return False


class BeamSearchDecoder(Decoder):
    """The `beam_size` likeliest continuations of each sequence, kept from step to step.

    cell: called with inputs and states of [batch * beam, *]. embedding_fn: from token numbers to the cell's inputs.
    output_fn: from the cell's outputs to scores of the tokens. A beam that has met `end_token` goes on with it alone.
    Source: paddle.nn.BeamSearchDecoder.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.nn import BeamSearchDecoder, Embedding, GRUCell, Linear, dynamic_decode
        >>> cell = GRUCell(8, 8)
        >>> decoder = BeamSearchDecoder(cell, 0, 1, beam_size=4, embedding_fn=Embedding(20, 8), output_fn=Linear(8, 20))
        >>> tokens, states = dynamic_decode(decoder, cell.get_initial_states(paddle.ones([3, 8])), max_step_num=5)
        >>> tokens.shape[::2]
        paddle.Size([3, 4])
    """

    class OutputWrapper(NamedTuple):
        """What one step gives: [batch, beam] each."""

        scores: Any
        predicted_ids: Any
        parent_ids: Any

    class StateWrapper(NamedTuple):
        """What goes on to the next step; cell_states: [batch, beam, *], the others [batch, beam]."""

        cell_states: Any
        log_probs: Any
        finished: Any
        lengths: Any

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[..., Any] | None = None,
        output_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.cell = cell
        self.embedding_fn = embedding_fn
        self.output_fn = output_fn
        self.start_token = start_token
        self.end_token = end_token
        self.beam_size = beam_size

    @staticmethod
    def tile_beam_merge_with_batch(x: Any, beam_size: int) -> Any:
        """x [batch, *] with each entry repeated: [batch * beam_size, *]."""
        return _merged(_tiled(x, beam_size))

    def _inputs(self, tokens: Any) -> Any:
        return tokens if self.embedding_fn is None else self.embedding_fn(tokens)

    def initialize(self, initial_cell_states: Any) -> tuple[Any, Any, Any]:
        """The start token's inputs [batch, beam, *], states of which only the first beam is likely, and no end."""
        states = _mapped(lambda x: _tiled(x, self.beam_size), initial_cell_states)
        first = _leaf(states)
        ids = full([size_of(first, 0), self.beam_size], self.start_token, "int64")
        log_probs = where(arange(self.beam_size) > 0, full_like(ids, _NEVER, "float32"), zeros_like(ids, "float32"))
        finished = zeros_like(ids, "bool")
        return self._inputs(ids), self.StateWrapper(states, log_probs, finished, zeros_like(ids)), finished

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Any]:
        """The likeliest continuations: (scores, tokens, parents), states, inputs of the next step, finished."""
        merged = _mapped(_merged, inputs)
        out, cell_states = self.cell(merged, _mapped(_merged, states.cell_states), **kwargs)
        logits = _split(out if self.output_fn is None else self.output_fn(out), self.beam_size)
        cell_states = _mapped(lambda x: _split(x, self.beam_size), cell_states)
        output, fresh = self._chosen(logits, cell_states, states)
        return output, fresh, self._inputs(output.predicted_ids), fresh.finished

    def _chosen(self, logits: Any, cell_states: Any, states: Any) -> tuple[Any, Any]:
        """The best `beam_size` of all beams' continuations. logits: [batch, beam, tokens]."""
        tokens = logits.shape[-1]
        log_probs = self._masked(F.log_softmax(logits), states.finished) + unsqueeze(states.log_probs, 2)
        scores, places = topk(reshape(log_probs, [0, self.beam_size * tokens]), self.beam_size)
        parents, ids = places // tokens, places % tokens
        ended = take_along_axis(states.finished, parents, 1)
        lengths = take_along_axis(states.lengths, parents, 1) + (~ended).astype("int64")
        finished = ended | (ids == self.end_token)
        kept = _mapped(lambda x: _picked(x, parents), cell_states)
        return self.OutputWrapper(scores, ids, parents), self.StateWrapper(kept, scores, finished, lengths)

    def _masked(self, log_probs: Any, finished: Any) -> Any:
        """The log probabilities, with the end token certain where a beam is finished."""
        is_end = arange(log_probs.shape[-1]) == self.end_token
        certain = where(is_end, zeros_like(log_probs), full_like(log_probs, _NEVER))
        return where(unsqueeze(finished, 2), certain, log_probs)

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The tokens [time, batch, beam] of the sequences that end in each beam."""
        return gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places, and what is finished with them."""
        return True


def _leaf(nest: Any) -> Any:
    """The first tensor of a nest."""
    while isinstance(nest, (list, tuple, dict)):
        nest = next(iter(nest.values() if isinstance(nest, dict) else nest))
    return nest


def _tiled(x: Any, beams: int) -> Any:
    """x [batch, *] as [batch, beams, *]."""
    return expand(unsqueeze(x, 1), [-1, beams, *[-1] * (x.ndim - 1)])


def _merged(x: Any) -> Any:
    """x [batch, beams, *] as [batch * beams, *]."""
    return reshape(x, [-1, *x.shape[2:]])


def _split(x: Any, beams: int) -> Any:
    """x [batch * beams, *] as [batch, beams, *]."""
    return reshape(x, [-1, beams, *x.shape[1:]])


def _picked(x: Any, parents: Any) -> Any:
    """x [batch, beam, *] with each beam replaced by its parent."""
    index = reshape(parents, [0, 0, *[1] * (x.ndim - 2)])
    return take_along_axis(x, expand(index, [-1, -1, *x.shape[2:]]), 1, broadcast=False)


@converted_too
def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """Outputs [batch, time, *] and the last states of the decoder, stepped until all sequences are finished.

    max_step_num: the number of the last step, counted from 0; None for no limit. output_time_major: outputs are
    [time, batch, *]. impute_finished: finished sequences keep their states. return_length: a third value, the lengths.
    kwargs: for `decoder.step`. Source: paddle.nn.dynamic_decode.

    Example: see `BeamSearchDecoder`.

    Example:
        >>> import vitrify as paddle
        >>> cell = paddle.nn.GRUCell(4, 8)
        >>> embed, out = paddle.nn.Embedding(10, 4), paddle.nn.Linear(8, 10)
        >>> decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, beam_size=2, embedding_fn=embed, output_fn=out)
        >>> start = cell.get_initial_states(paddle.ones([3, 4]))
        >>> outputs, states = paddle.nn.dynamic_decode(decoder, start, max_step_num=5)
        >>> outputs.shape[0], outputs.shape[2]
        (3, 2)
    """
    decode = _jit.to_static(_decoded) if is_written_by_hand() else _decoded
    settings = (output_time_major, impute_finished, return_length)
    return tuple(decode(decoder, inits, max_step_num, *settings, **kwargs))


@converted_too
def _decoded(
    decoder: Any,
    inits: Any,
    max_step_num: int | None,
    output_time_major: bool,
    impute_finished: bool,
    return_length: bool,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """What `dynamic_decode` gives."""
    inputs, states, finished = decoder.initialize(inits)
    lengths = zeros_like(finished, "int64")
    outputs: list[Any] = []
    time = full([1], 0, "int64")
    going = True
    while going:
        output, fresh, inputs, ended = decoder.step(time, inputs, states, **kwargs)
        if decoder.tracks_own_finished:
            lengths = fresh.lengths if hasattr(fresh, "lengths") else lengths
        else:
            ended = ended | finished
            lengths = lengths + (~ended).astype("int64")
            if impute_finished:
                fresh = _kept_where(finished, states, fresh)
        states, finished = fresh, ended
        outputs.append(output)
        time = time + 1
        going = not finished.all()
        if max_step_num is not None:
            going = going and bool((time <= max_step_num).all())
    final, states = decoder.finalize(_stacked(outputs, output), states, lengths)
    if not output_time_major:
        final = _mapped(_batch_first, final)
    return (final, states, lengths) if return_length else (final, states)


def _kept_where(finished: Any, old: Any, new: Any) -> Any:
    """The new states, and the old ones of what is finished."""
    return _mapped(lambda o, n: where(reshape(finished, [0, *[1] * (n.ndim - 1)]), o, n), old, new)


@converted_too
def _stacked(outputs: Sequence[Any], one: Any) -> Any:
    """The outputs of all steps, nests like `one`, along a new first dimension."""
    if isinstance(one, dict):
        return {key: _stacked([output[key] for output in outputs], one[key]) for key in one}
    if not isinstance(one, (list, tuple)):
        return stack(outputs)
    found = [_stacked([output[at] for output in outputs], part) for at, part in enumerate(one)]
    return type(one)(*found) if hasattr(one, "_fields") else type(one)(found)


def _batch_first(x: Any) -> Any:
    return x.transpose([1, 0, *range(2, x.ndim)])


__all__ = ["BeamSearchDecoder", "Decoder", "dynamic_decode"]
