"""Helpers with plain Python meaning: the contract without tensors. Converted code must then equal the original."""

from __future__ import annotations

import operator
import sys
from types import CellType, FunctionType, MethodType
from typing import Any

from vitrify.convert.calls.patterns import capture, either, instance, mapping, match, same, sequence, star
from vitrify.convert.control.comprehension import dict_of, each, generator, list_of, set_of
from vitrify.transformers import convert_function, is_converted

COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
OPERATE = {
    **{(symbol, 1): function for symbol, function in COMPARE.items()},
    **{(symbol, 1): getattr(operator, name) for symbol, name in {
        "+": "add", "-": "sub", "*": "mul", "@": "matmul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
        "<<": "lshift", ">>": "rshift", "|": "or_", "^": "xor", "&": "and_",
    }.items()},
    ("-", 0): operator.neg, ("+", 0): operator.pos, ("~", 0): operator.invert,
}  # fmt: skip
CONVERSIONS = {"": lambda value: value, "str": str, "repr": repr, "ascii": ascii}
INPLACE = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "@=": operator.imatmul, "/=": operator.itruediv,
    "//=": operator.ifloordiv, "%=": operator.imod, "**=": operator.ipow, "<<=": operator.ilshift,
    ">>=": operator.irshift, "|=": operator.ior, "^=": operator.ixor, "&=": operator.iand,
}  # fmt: skip


class Undefined:
    def __init__(self, name: str = "", line: int = 0) -> None:
        self.name, self.line = name, line

    def fail(self, *args: Any) -> Any:
        raise UnboundLocalError(f"local variable '{self.name}' (line {self.line}) is not set")

    __call__ = __bool__ = __iter__ = __len__ = __getitem__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = fail
    __add__ = __sub__ = __mul__ = __mod__ = __radd__ = __rsub__ = __rmul__ = __rmod__ = __neg__ = fail
    __hash__ = None


class Place:
    def __init__(self, owner: Any, key: Any, get: Any, set_: Any, del_: Any) -> None:
        self.get = lambda: get(owner, key)
        self.set = lambda value: set_(owner, key, value)
        self.unset = lambda: del_(owner, key)


class Cell:
    def __init__(self, cell: CellType) -> None:
        self.cell = cell

    def get(self) -> Any:
        return self.cell.cell_contents


class Spread:
    def __init__(self, values: Any) -> None:
        self.items = list(values)


class Index:
    def __getitem__(self, key: Any) -> Any:
        return key


class PythonHelpers:
    """`deep` also converts every Python function that is called, as the convert layer does."""

    index = Index()
    Undefined = Undefined
    Variable = object
    list_of = staticmethod(list_of)
    set_of = staticmethod(set_of)
    dict_of = staticmethod(dict_of)
    generator = staticmethod(generator)
    each = staticmethod(each)
    match = staticmethod(match)
    capture, star, same, either = capture, star, same, either
    sequence, mapping, instance = sequence, mapping, instance

    def __init__(self, deep: bool = True) -> None:
        self.deep = deep
        self.calls: list[Any] = []
        self._cache: dict[Any, Any] = {}

    def unchanged(self, *values: Any) -> tuple[Any, ...]:
        return values

    def new_list(self, values):
        assert type(values) is list
        return [item for v in values for item in (v.items if isinstance(v, Spread) else [v])]

    def new_tuple(self, values):
        return tuple(self.new_list([*values]))

    def kept_iterator(self, items):
        return items

    def new_dict(self, *parts):
        return {key: value for part in parts for key, value in {**part}.items()}

    def key(self, value):
        return value

    def new_set(self, values):
        return set(values)

    def spread(self, values):
        return Spread(values)

    def named(self, mapping):
        return mapping

    def convert_ifelse(self, test, then, orelse, ins, names, shared=()):
        assert isinstance(ins, tuple) and isinstance(names, tuple)
        outs = then(*ins) if test else orelse(*ins)
        assert len(outs) == len(names)
        return outs

    def convert_while(self, test, body, values, names, shared=()):
        assert len(values) == len(names)
        while test(*values):
            values = body(*values)
        return values

    def convert_for(self, iterable, body, values, names, test=None, shared=()):
        assert len(values) == len(names)
        iterator = iter(iterable)
        while test is None or test(*values):
            try:
                item = next(iterator)
            except StopIteration:
                break
            values = body(item, *values)
        return values

    def convert_and(self, first, *rest, asked=False):
        for thunk in rest:
            if not first:
                return first
            first = thunk()
        return first

    def convert_or(self, first, *rest, asked=False):
        for thunk in rest:
            if first:
                return first
            first = thunk()
        return first

    def convert_not(self, value):
        return not value

    def convert_ifexp(self, test, then, orelse):
        return then() if test else orelse()

    def convert_compare(self, left, op, right, *rest):
        result = COMPARE[op](left, right)
        for op, thunk in zip(rest[::2], rest[1::2]):
            if not result:
                return result
            left, right = right, thunk()
            result = COMPARE[op](left, right)
        return result

    def convert_call(self, function):
        if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
            return MethodType(self.convert_call(function.__func__), function.__self__)
        self.calls.append(function)
        if not self.deep or not isinstance(function, FunctionType) or is_converted(function, self):
            return function
        if function.__module__ is None or not function.__module__.startswith(("tests", "test", "corpus")):
            return function
        if function.__code__.co_flags & 0x280:
            return function
        return convert_function(function, self)

    def convert_starred(self, function):
        called = self.convert_call(function)
        return lambda *args, **kwargs: called(*self.new_list([*args]), **kwargs)

    def pass_on(self):
        """Nothing here is an error of the conversion."""

    def convert_assert(self, test, message=None):
        if not test:
            raise AssertionError(*(() if message is None else (message(),)))

    def caught_raise(self, *given):
        return self.convert_raise(*given)

    def convert_raise(self, *given):
        err = given[0] if given else sys.exc_info()[1]
        err = err() if isinstance(err, type) else err
        if len(given) == 2:
            err.__cause__ = given[1]() if isinstance(given[1], type) else given[1]
        return err

    def convert_fstring(self, *parts):
        return "".join(parts)

    def formatted(self, value, conversion="", spec=""):
        return format(CONVERSIONS[conversion](value), spec)

    def percent(self, template, values):
        return template % values

    def convert_shape(self, owner):
        return owner.shape

    def get_attr(self, owner, attribute):
        return getattr(owner, attribute)

    peek_attr = get_attr

    def truth(self, value):
        return value

    def get_item(self, owner, key):
        return owner[key]

    def unpacked(self, value, count):
        return value

    def unpacked_rest(self, value, before, after):
        items = list(value)
        end = len(items) - after
        return (*items[:before], items[before:end], *items[end:])

    def operate(self, symbol, left, *right):
        return OPERATE[symbol, len(right)](left, *right)

    def managed(self, manager):
        return manager

    def set_attr(self, owner, attribute, value):
        setattr(owner, attribute, value)

    def del_attr(self, owner, attribute):
        delattr(owner, attribute)

    def del_item(self, owner, key):
        del owner[key]

    def convert_setitem(self, owner, key, value):
        owner[key] = value
        return owner

    def convert_setitem_at(self, place, key, value):
        place.get()[key] = value

    def inplace(self, op, left, right):
        return INPLACE[op](left, right)

    def attr(self, owner, attribute):
        return Place(owner, attribute, getattr, setattr, delattr)

    def item(self, owner, key):
        return Place(owner, key, operator.getitem, operator.setitem, operator.delitem)

    def name(self, name, read):
        if name in read.__code__.co_freevars:
            return Cell(read.__closure__[read.__code__.co_freevars.index(name)])
        return Place(read.__globals__, name, dict.__getitem__, dict.__setitem__, dict.__delitem__)

    def load(self, value):
        if isinstance(value, Undefined):
            value.fail()
        return value

    load_free = load
