"""Text made of tensors: what `str(x)`, f-strings, `%`, `format` and `join` give while a program is built.

Such a text is put together when the program runs. It may go into prints, assertions, exceptions and further text, and
what it is asked for that is a number (`len(text)`, `part in text`, `text.startswith(...)`) is one of the program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, NoReturn

from ...core.dtype import bool_, int64
from ...core.errors import UnsupportedError
from ...core.library_settings import writes_arrays
from ...core.meta import Meta
from ...core.open_range import OpenRange
from ...core.pytree import OpenTable, as_plain, is_open, is_partial, list_in
from ...core.size import Size
from ...eager.host_ops import host_value_op
from ...eager.tensor import Tensor
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number, is_number
from .base import Undefined, builder, is_tensor, note_setting
from .deferred import Call, Deferred, Input, Itself, Lazy, captured, holds_deferred, parts, record
from .one_of import GraphOneOf, by_option, for_options, is_option, options_of, settled
from .user_code import note_special
from .user_errors import for_user

Text = Any  # str | GraphText
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"str": str, "repr": repr, "ascii": ascii}
_TO_TEXT = frozenset(
    {
        *("capitalize", "casefold", "center", "expandtabs", "ljust", "lower", "lstrip", "removeprefix", "removesuffix"),
        *("replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate", "upper", "zfill"),
    }
)
_TOLD = {
    **dict.fromkeys(("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower"), bool_),
    **dict.fromkeys(("isnumeric", "isprintable", "isspace", "istitle", "isupper", "startswith", "endswith"), bool_),
    **dict.fromkeys(("count", "find", "rfind", "__len__"), int64),
    **dict.fromkeys(("__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), bool_),
}
"""Methods that tell something of a text, and the dtype of what they tell."""
_HINT = "use it in print(), assert messages, exceptions and other text only; compute with the tensor itself"


def _compared(name: str) -> Callable[[GraphText, object], Any]:
    def compare(self: GraphText, other: object) -> Any:
        return self.told(name, other) if isinstance(other, (str, GraphText)) else NotImplemented

    return compare


class GraphText(Deferred):
    """A string known only when the program runs."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.refused("used")

    def refused(self, how: str) -> UnsupportedError:
        """The error for a use that needs the characters now."""
        return UnsupportedError(
            f"a text made of tensors is {how} where its characters are needed before the program runs",
            loc=self.loc,
            hint=_HINT,
        )

    def kept_node(self) -> Any:
        """The expression, for a text that is put together once the program has run."""
        shown = [part.function for part in parts(self.node) if isinstance(part, Call)]
        if any(isinstance(f, Itself) and builder().latest(f.parameter) is not f.parameter for f in shown):
            raise self.refused("kept, a parameter of which changes later,")
        return self.node

    def __getattr__(self, name: str) -> Any:
        if not hasattr(str, name):
            raise AttributeError(f"'str' object has no attribute {name!r}")
        if name == "format":
            return lambda *args, **kwargs: format_text(self, *args, **kwargs)
        if name == "join":
            return lambda items: join(self, items)
        if name in _TOLD:
            return functools.partial(self.told, name)
        if name not in _TO_TEXT:
            raise self.refused(f"asked for {name}()")
        return lambda *args: GraphText(Call("method", (name, self.node, *map(captured, args))))

    def truth(self) -> Any:
        return self.told("__ne__", "")

    def told(self, name: str, *args: Any) -> Any:
        """What a method says of the text, as a number of the program."""
        node = Call("method", (name, self.node, *map(captured, args)))
        (out,) = record(host_value_op, attrs={"meta": Meta((), _TOLD[name])}, call=node)
        return as_number(out)

    def __add__(self, other: Any) -> Any:
        return concatenated(self, other) if isinstance(other, (str, GraphText)) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return concatenated(other, self) if isinstance(other, str) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        return GraphText(Call("repeat", (self.node, captured(count))))

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> Any:
        return percent(self, values)

    def __getitem__(self, index: Any) -> Any:
        return GraphText(Call("getitem", (self.node, captured(index))))

    __eq__, __ne__, __lt__ = map(_compared, ("__eq__", "__ne__", "__lt__"))
    __le__, __gt__, __ge__ = map(_compared, ("__le__", "__gt__", "__ge__"))
    __str__ = __repr__ = __format__ = _refuse
    __bool__ = __len__ = __iter__ = __contains__ = __hash__ = _refuse
    __int__ = __float__ = __index__ = __setattr__ = _refuse


# -- putting text together --------------------------------------------------------------------------------------------


def as_text(value: Any) -> Any:
    """`value`; one of several strings as text that is put together when the program runs."""
    value = settled(value)
    options = options_of(value)
    if len(options) == 1 or not all(isinstance(option, (str, GraphText)) for option in options.values()):
        return value
    (_, found), *others = options.items()
    for place, option in others:
        index: Any = place
        is_it = Input(is_option(value.code, [index], []), True, True)
        yes, no = (Lazy(text.node if isinstance(text, GraphText) else text) for text in (option, found))
        found = GraphText(Call("choose", (is_it, yes, no)))
    return found


def _by_texts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of texts work on each option of a text that a tensor chose among known ones."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        given += [item for value in given if type(value) in (list, tuple) and not is_open(value) for item in value]
        chosen = [value for value in given if isinstance(value, GraphOneOf)]
        is_known = not any(holds_deferred(value) for value in given if not isinstance(value, (GraphOneOf, list, tuple)))
        if is_known and 0 < len(chosen) <= MAX_CHOSEN and all(type(o) is str for v in chosen for o in v.options):
            return for_options(function, deep=True)(*args, **kwargs)
        return function(*args, **kwargs)

    return call


MAX_CHOSEN = 2
"""So many texts that tensors chose are put together in all ways; of more, the program makes the text."""


@_by_texts
def concatenated(*parts: Text) -> Text:
    """The parts one after another."""
    parts = tuple(map(as_text, parts))
    if all(isinstance(p, str) for p in parts):
        return "".join(parts)
    nodes: list[Any] = []
    for part in parts:
        node = part.node if isinstance(part, GraphText) else part
        inner = node.args if isinstance(node, Call) and node.function == "concat" else (node,)
        for piece in inner:
            if isinstance(piece, str) and nodes and isinstance(nodes[-1], str):
                nodes[-1] += piece
            elif piece != "":
                nodes.append(piece)
    return GraphText(Call("concat", tuple(nodes)))


@_by_texts
def join(separator: Text, items: Any) -> Text:
    """`separator.join(items)`."""
    if is_open(list_in(items)):
        return GraphText(Call("method", ("join", captured(separator), captured(items))))
    separator, *found = map(as_text, (separator, *items))
    if not any(isinstance(v, GraphText) for v in (separator, *found)):
        return separator.join(found)
    parts: list[Any] = []
    for position, item in enumerate(found):
        if not isinstance(item, (str, GraphText)):
            raise TypeError(f"sequence item {position}: expected str instance, {type(item).__name__} found")
        parts += [separator, item] if position else [item]
    return concatenated(*parts)


@_by_texts
def format_text(template: Text, *args: Any, **kwargs: Any) -> Text:
    """`template.format(*args, **kwargs)`."""
    if not any(map(_is_needed, (template, *args, *kwargs.values()))):
        return template.format(*args, **kwargs)
    keywords = {name: captured(value) for name, value in kwargs.items()}
    return GraphText(Call("format_text", (captured(template), *map(captured, args)), keywords))


def percent(template: Any, values: Any) -> Any:
    """`template % values`."""
    return for_options(_percent, deep=True)(template, values)


def _percent(template: Any, values: Any) -> Any:
    if not isinstance(template, (str, GraphText)) or not any(map(_is_needed, (template, values))):
        return template % values
    return GraphText(Call("%", (captured(template), captured(values))))


def _is_needed(value: Any) -> bool:
    return current_builder() is not None and holds_deferred(value)


# -- text of values ---------------------------------------------------------------------------------------------------


@by_option(1)
def shown(value: Any, how: str = "str") -> Text:
    """`str(value)`, `repr(value)` or `ascii(value)`."""
    if isinstance(value, Undefined):
        raise value.fail()
    if current_builder() is None or isinstance(value, (str, int, float, type(None))):
        return _CONVERSIONS[how](value)
    if isinstance(value, GraphText):
        return value if how == "str" else GraphText(Call(how, (value.node,)))
    if is_tensor(value) or isinstance(value, (Deferred, OpenRange, OpenTable)) or is_open(list_in(value)):
        return GraphText(Call(how, (captured(value),)))
    if is_partial(value):
        captured(value)
    value = as_plain(value)
    text = _text_of_parts(value, how)
    if text is None:
        note_setting("print" if writes_arrays(value) else None)
        return _CONVERSIONS[how](value)
    return text if how != "ascii" or isinstance(text, str) else GraphText(Call("escaped", (text.node,)))


@by_option(1)
@for_user
def formatted(value: Any, conversion: str = "", spec: Text = "") -> Text:
    """The text of a field of an f-string, or `format(value, spec)`."""
    if conversion:
        value = shown(value, conversion)
    hooked = _own_method(value, "__format__")
    if hooked is not None:
        return hooked(value, spec)
    if isinstance(value, (Deferred, Tensor)) or is_tensor(value) or not isinstance(spec, str):
        return (
            value
            if isinstance(value, GraphText) and spec == ""
            else GraphText(Call("format", (captured(value), captured(spec))))
        )
    return shown(value) if spec == "" and current_builder() is not None else format(value, spec)


def _text_of_parts(value: Any, how: str) -> Text | None:
    """The text of a container or exception that holds tensors, or of an object with text of its own; else None."""
    if how == "str":
        note_special(type(value), "__str__")
    by_repr = how != "str" or _inherits_str(type(value))
    own = _own_method(value, "__repr__" if by_repr else "__str__")
    if own is not None:
        return own(value)
    if isinstance(value, BaseException) and holds_deferred(value.args):
        return _exception_text(value, how)
    if not _mentions(value, ()):
        return None
    rule = _CONTAINERS.get(type(value))
    if rule is not None:
        return rule(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _call_text(type(value).__name__, dict(zip(value._fields, value)))
    if is_dataclass(value):
        shown_fields = {f.name: getattr(value, f.name) for f in fields(value) if f.repr}
        return _call_text(type(value).__qualname__, shown_fields)
    return None


def _inherits_str(cls: Any) -> bool:
    return cls.__str__ is object.__str__


def _own_method(value: Any, name: str) -> Any:
    """The user's own way to text that a class has, converted; None for library code and while no program is built."""
    note_special(type(value), name)
    method = getattr(type(value), name, None)
    is_own = isinstance(method, FunctionType) and method.__code__.co_filename != "<string>"  # of a dataclass
    if not is_own or current_builder() is None or is_tensor(value) or isinstance(value, Deferred):
        return None
    found = builder().convert(method)
    return None if found is method else found


_OF_A_RUN = (Deferred, GraphOneOf, OpenRange, OpenTable)


def _mentions(value: Any, outer: tuple[int, ...]) -> bool:
    """Whether the text of a container shows tensors, or objects with text of their own; cycles are left to Python."""
    if id(value) in outer:
        return False
    is_of_program = is_tensor(value) or isinstance(value, _OF_A_RUN) or is_open(list_in(value))
    if is_of_program or _own_method(value, "__repr__") is not None:
        return True
    if isinstance(value, BaseException):
        return holds_deferred(value.args)
    if isinstance(value, dict):
        items: list[Any] = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = list(value)
    elif is_dataclass(value) and not isinstance(value, type):
        items = [getattr(value, f.name, None) for f in fields(value)]
    else:
        return False
    return any(_mentions(item, (*outer, id(value))) for item in items)


def _listed(items: Any) -> Text:
    parts: list[Any] = []
    for item in items:
        parts += [", ", shown(item, "repr")] if parts else [shown(item, "repr")]
    return concatenated(*parts)


def _tuple_text(value: tuple[Any, ...]) -> Text:
    return concatenated("(", _listed(value), ",)" if len(value) == 1 else ")")


def _dict_text(value: dict[Any, Any]) -> Text:
    pairs = [concatenated(shown(k, "repr"), ": ", shown(v, "repr")) for k, v in value.items()]
    return concatenated("{", join(", ", pairs), "}")


def _call_text(name: str, given: dict[str, Any]) -> Text:
    pairs = [concatenated(f"{k}=", shown(v, "repr")) for k, v in given.items()]
    return concatenated(f"{name}(", join(", ", pairs), ")")


def _exception_text(value: BaseException, how: str) -> Text:
    if how == "str":
        of_one = "repr" if isinstance(value, KeyError) else "str"
        return shown(value.args[0], of_one) if len(value.args) == 1 else _tuple_text(value.args)
    return concatenated(type(value).__name__, "(", _listed(value.args), ")")


_CONTAINERS: dict[type, Callable[[Any], Text]] = {
    list: lambda value: concatenated("[", _listed(value), "]"),
    Size: lambda value: concatenated("paddle.Size([", _listed(value), "])"),
    tuple: _tuple_text,
    dict: _dict_text,
    set: lambda value: concatenated("{", _listed(value), "}"),
    frozenset: lambda value: concatenated("frozenset({", _listed(value), "})"),
}


# -- builtins ---------------------------------------------------------------------------------------------------------


def convert_str(*args: Any, **kwargs: Any) -> Text:
    """`str(value)`."""
    return str(*args, **kwargs) if len(args) != 1 or kwargs else shown(args[0])


def convert_repr(value: Any) -> Text:
    """`repr(value)`."""
    return shown(value, "repr")


def convert_ascii(value: Any) -> Text:
    """`ascii(value)`."""
    return shown(value, "ascii")


def of_number(builtin: Callable[[Any], str]) -> Callable[[Any], Text]:
    """`chr`, `hex` and the like of a number that only a run of the program knows, too."""

    def convert(value: Any) -> Text:
        return GraphText(Call(builtin.__name__, (captured(value),))) if is_number(value) else builtin(value)

    convert.__doc__ = f"`{builtin.__name__}(number)`."
    return convert


def convert_format(value: Any, spec: Text = "") -> Text:
    """`format(value, spec)`."""
    return formatted(value, "", spec)


def method_of_text(function: Any, listed: Callable[[Any], Any]) -> Callable[..., Any] | None:
    """What stands for `"...".join` or `"...".format`; None for other methods. `listed`: gives what can be joined."""
    text = function.__self__
    if function.__name__ == "join":
        return lambda items: join(text, listed(items))
    return (lambda *a, **k: format_text(text, *a, **k)) if function.__name__ == "format" else None


__all__ = [
    "GraphText", "concatenated", "convert_ascii", "convert_format", "convert_repr", "convert_str", "formatted",
    "method_of_text", "of_number", "percent", "shown",
]  # fmt: skip
