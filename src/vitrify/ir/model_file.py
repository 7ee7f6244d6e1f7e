"""The pair of files that a saved function consists of: `path.vtmodel` (programs, structure) and `path.vtparams`
(tensors). docs/format.md explains both; `jit.save` and `static.save_inference_model` fill, `jit.load` and
`static.load_inference_model` use the dataclasses below.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy.typing as npt

from ..core.atomic_file import replace_file
from ..core.container import Container, Kind, read_container, write_container
from ..core.dtype import from_np
from ..core.errors import ArgumentError, FileFormatError, VitrifyError
from ..core.meta import Meta
from ..core.plain import from_json, to_json
from ..core.tensor_file import TensorFile, read_tensors, state_dict_note, write_tensors
from .input_spec import InputSpec
from .model_formats import MODEL_SUFFIX
from .program import Program
from .serialize import decode_program, encode_program
from .verify import agree

MODEL = Kind(b"\x93VTMODEL", 1, "model file")
PARAMS_SUFFIX = ".vtparams"
NEXT = ".next"  # what the tensors' file is called until the model file that belongs to it is there
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Slot:
    """Stands in a structure for a tensor, or what is made of one: input or output number `index` of the program."""

    kind: str  # "input" or "output"
    index: int
    form: str = "tensor"  # what it is where the function is called: also "number", "array", "scalar" and "list"


@dataclass(frozen=True)
class TensorInfo:
    """What is known of a saved tensor besides its data: parameter or buffer, and whether training changes it."""

    parameter: bool
    trainable: bool


@dataclass
class SavedFunction:
    """One converted function.

    Fields:
        program: its global block takes the argument tensors, then `tensors`; its outputs are those of the function,
            then the new values of `writes`.
        inputs: a spec for each argument tensor.
        input_tree / output_tree: plain nested data (list, tuple, dict, numbers, strings, None, ...) with a `Slot`
            where a tensor stands.
        tensors: names of the saved tensors that the program takes, in order.
        writes: for each of the last outputs, the number of the program input that takes it as its new value.
        parameters: by which names the first positional arguments may be given, "" for one that has none.
    """

    program: Program
    inputs: tuple[InputSpec, ...]
    input_tree: Any
    output_tree: Any
    tensors: tuple[str, ...] = ()
    writes: tuple[int, ...] = ()
    parameters: tuple[str, ...] = ()


def input_names(function: SavedFunction) -> list[str]:
    """A name for each tensor argument: that of its spec, or of the program's variable; each once."""
    found: list[str] = []
    block = function.program.global_block()
    for spec, var in zip(function.inputs, block.inputs):
        name = spec.name or var.name
        while name in found or name in function.tensors:
            name += "_"
        found.append(name)
    return found


@dataclass
class ModelFile:
    """Everything that a pair of files holds. `note` is plain data about the model (its class, who made it, ...)."""

    functions: dict[str, SavedFunction]
    tensors: dict[str, Array] = field(default_factory=dict)
    infos: dict[str, TensorInfo] = field(default_factory=dict)
    note: Any = None


def write_model(path: str | os.PathLike[str], model: ModelFile, params: str | None = None) -> None:
    """Write `path.vtmodel` and `path.vtparams`, each in one step, making the folder if need be.

    params: the file for the tensors, where that is not `path.vtparams`.
    Raises ArgumentError when the parts of `model` don't fit each other, DTypeError for what cannot be stored, OSError.
    """
    for name, function in model.functions.items():
        reason = _misfit(function, model)
        if reason is not None:
            raise ArgumentError(f"{name}: {reason}")
    prefix = os.fspath(path)
    blocks = [encode_program(function.program) for function in model.functions.values()]
    content = {
        "functions": [_function_json(name, function) for name, function in model.functions.items()],
        "tensors": [[name, info.parameter, info.trainable] for name, info in model.infos.items()],
        "note": to_json(model.note),
    }
    params = os.path.realpath(params or prefix + PARAMS_SUFFIX)
    for file in (prefix, params):
        os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)
    # A model file never names tensors that are not there yet, and the old tensors stay until it is replaced: whenever
    # this ends, the model file and one of the two files of tensors are of one save.
    _finish_earlier(prefix, params)
    digest = write_tensors(params + NEXT, model.tensors, state_dict_note(model.tensors))
    write_container(prefix + MODEL_SUFFIX, MODEL, {**content, "params": digest}, blocks)
    replace_file(params + NEXT, params)


def _finish_earlier(prefix: str, params: str) -> None:
    """Let a save that was cut off before its last step take it: the model there may need what this one replaces."""
    if not os.path.exists(params + NEXT):
        return
    with suppress(FileFormatError, OSError):  # of what cannot be read nothing is needed
        content = read_container(prefix + MODEL_SUFFIX, MODEL).content
        digest = read_tensors(params + NEXT, mapped=True).digest
        if isinstance(content, dict) and content.get("params") == digest:
            replace_file(params + NEXT, params)


def read_model(
    path: str | os.PathLike[str],
    *,
    mapped: bool = False,
    params: str | None = None,
    only: str | None = None,
) -> ModelFile:
    """What `path.vtmodel` and `path.vtparams` hold, checked file by file and against each other.

    mapped: leave the tensors in their file and return read-only arrays (they come in as they are touched).
    params: the file with the tensors, where that is not `path.vtparams`. only: the one function that will be run;
    where there is none of that name, all are read. Nobody else gets its tensors, so they stay in the file until they
    are touched or written into.
    Raises FileFormatError when a file is cut short, changed, of another kind or not from the same save; OSError.
    """
    prefix = os.fspath(path)
    container, tensors = _read_pair(prefix, params, partial(read_tensors, mapped=mapped, private=only is not None))
    try:
        content = _checked(container, tensors.digest)
        model = ModelFile(
            functions=_functions(container, content, only),
            tensors=tensors.tensors,
            infos={name: TensorInfo(_flag(parameter), _flag(train)) for name, parameter, train in content["tensors"]},
            note=from_json(content["note"]),
        )
        check_fit(model)
    except FileFormatError as err:
        raise FileFormatError(f"{prefix}{MODEL_SUFFIX}: {err.message}", loc=err.loc, hint=err.hint) from err
    # The checksums hold here: what is wrong in these ways was written by something else than write_model.
    except (VitrifyError, TypeError, ValueError, LookupError) as err:
        raise FileFormatError(f"{prefix}{MODEL_SUFFIX}: its description is not one of a model ({err})") from err
    return model


def _read_pair(prefix: str, params: str | None, read: Callable[[str], TensorFile]) -> tuple[Container, TensorFile]:
    """The two files, of one save where there is such a pair."""
    container = read_container(prefix + MODEL_SUFFIX, MODEL)
    file = os.path.realpath(params or prefix + PARAMS_SUFFIX)
    if os.path.exists(file + NEXT):  # a save was cut off, or goes on right now
        try:
            found = read(file + NEXT)
            if isinstance(container.content, dict) and container.content.get("params") == found.digest:
                return container, found
        except FileNotFoundError:  # it has its own name by now
            container = read_container(prefix + MODEL_SUFFIX, MODEL)
        except FileFormatError:
            pass  # the files that count are the others
    return container, read(file)


# --- the description in the header -----------------------------------------------------------------------------------


def _function_json(name: str, function: SavedFunction) -> dict[str, Any]:
    return {
        "name": name,
        "inputs": [[list(s.shape), s.dtype.name, s.name, s.stop_gradient] for s in function.inputs],
        "input_tree": tree_to_json(function.input_tree),
        "output_tree": tree_to_json(function.output_tree),
        "tensors": list(function.tensors),
        "writes": list(function.writes),
        **({"parameters": list(function.parameters)} if function.parameters else {}),
    }


def tree_to_json(tree: Any) -> Any:
    """A structure with `Slot`s as JSON data; raises DTypeError for what is not plain."""
    return to_json(tree, _slot_json)


def tree_from_json(data: Any) -> Any:
    """The structure that `tree_to_json` encoded; raises FileFormatError."""
    return from_json(data, _SLOTS)


def _slot_json(value: Any, where: str) -> tuple[str, Any] | None:
    if not isinstance(value, Slot):
        return None
    return value.kind, value.index if value.form == "tensor" else [value.index, value.form]


def _slot(kind: str, body: Any) -> Slot:
    index, form = body if isinstance(body, list) else (body, "tensor")
    return Slot(kind, _index(index), _name(form))


_SLOTS = {kind: partial(_slot, kind) for kind in ("input", "output")}


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise FileFormatError(f"{value!r} is no position of a tensor")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise FileFormatError(f"{value!r} is neither true nor false")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise FileFormatError(f"{value!r} is no name")
    return value


def _spec(shape: Any, dtype: str, name: str | None, stop_gradient: bool) -> InputSpec:
    return InputSpec(shape, dtype, None if name is None else _name(name), _flag(stop_gradient))


def _checked(container: Container, params_digest: str) -> Mapping[str, Any]:
    content = container.content
    if not isinstance(content, dict) or set(content) != {"functions", "tensors", "note", "params"}:
        raise FileFormatError("its description is not one of a model")
    if content["params"] != params_digest:
        raise FileFormatError(
            f"the {PARAMS_SUFFIX} file beside it is from another save",
            hint="keep the two files of one save together",
        )
    if len(content["functions"]) != len(container.blocks):
        raise FileFormatError(
            f"it lists {len(content['functions'])} functions and has {len(container.blocks)} programs"
        )
    return content


def _functions(container: Container, content: Mapping[str, Any], only: str | None) -> dict[str, SavedFunction]:
    pairs = list(zip(content["functions"], container.blocks))
    wanted = [pair for pair in pairs if pair[0]["name"] == only] or pairs
    return {
        _name(stored["name"]): SavedFunction(
            program=decode_program(block),
            inputs=tuple(_spec(*parts) for parts in stored["inputs"]),
            input_tree=tree_from_json(stored["input_tree"]),
            output_tree=tree_from_json(stored["output_tree"]),
            tensors=tuple(map(_name, stored["tensors"])),
            writes=tuple(map(_index, stored["writes"])),
            parameters=tuple(map(_name, stored.get("parameters", ()))),
        )
        for stored, block in wanted
    }


# --- do the parts fit? -----------------------------------------------------------------------------------------------


def check_fit(model: ModelFile) -> None:
    """Raise FileFormatError where the parts of a model do not fit each other."""
    if set(model.infos) != set(model.tensors):
        raise FileFormatError(f"it describes other tensors than the {PARAMS_SUFFIX} file holds")
    if not isinstance(model.note, dict | None):
        raise FileFormatError(f"its note is a {type(model.note).__name__}, no table of what is known")
    for name, function in model.functions.items():
        reason = _misfit(function, model)
        if reason is not None:
            raise FileFormatError(f"function {name!r}: {reason}")


def _misfit(function: SavedFunction, model: ModelFile) -> str | None:
    """What does not fit between a program and its description, or None."""
    if not set(function.tensors) <= set(model.tensors) & set(model.infos):
        return "the program needs tensors that are not saved"
    block = function.program.global_block()
    metas = [spec.meta for spec in function.inputs]
    metas += [Meta(model.tensors[n].shape, from_np(model.tensors[n].dtype)) for n in function.tensors]
    if len(metas) != len(block.inputs):
        return f"the program takes {len(block.inputs)} tensors, {len(metas)} are described"
    for var, meta in zip(block.inputs, metas):
        if not agree(var.meta, meta):
            return f"the program takes {var.name} as {var.meta}, described is {meta}"
    if block.persistables:
        return "the program keeps variables in a scope, which a file cannot hold"
    outputs = len(block.outputs) - len(function.writes)
    if outputs < 0 or any(var is None for var in block.outputs) or any(i >= len(metas) for i in function.writes):
        return "its outputs are not those of its description"
    limits = {"input": len(metas), "output": outputs}
    arguments = slots_in(function.input_tree)
    if any(slot.kind != "input" or slot.index >= len(function.inputs) for slot in arguments) or any(
        slot.index >= limits[slot.kind] for slot in slots_in(function.output_tree)
    ):
        return "its structure names tensors that the program does not have"
    if not _is_call(function.input_tree):
        return "the structure of its arguments is not one of a call"
    return None


def _is_call(tree: Any) -> bool:
    """Whether a structure is one of positional arguments and of arguments by name."""
    if not isinstance(tree, (list, tuple)) or len(tree) != 2:
        return False
    args, kwargs = tree
    return isinstance(args, (list, tuple)) and isinstance(kwargs, dict) and all(isinstance(k, str) for k in kwargs)


def slots_in(value: Any) -> list[Slot]:
    """The tensors of a structure, in order."""
    if isinstance(value, Slot):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [slot for item in items for slot in slots_in(item)]
