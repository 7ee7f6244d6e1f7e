"""The object that converted code calls `vt`."""

from __future__ import annotations

from typing import Any

from .calls.by_name import named
from .calls.caught import pass_on
from .calls.generators import delegate, give, give_watched
from .calls.list_builtins import spread
from .calls.managers import is_one, with_converted
from .calls.patterns import capture, either, instance, mapping, match, same, sequence, star
from .calls.unpack import unpacked, unpacked_rest
from .containers.displays import new_list, new_tuple
from .containers.each_key import key_of
from .containers.making import new_dict, new_set
from .control.attempts import raised, returned, tried
from .control.branches import convert_ifelse, convert_ifexp, unchanged
from .control.comprehension import dict_of, each, generator, list_of, set_of
from .control.endless import kept_iterator
from .control.logic import convert_and, convert_not, convert_or
from .control.loops import convert_for, convert_while
from .control.protocols import truth
from .control.raise_ import caught_raise, convert_raise
from .guards.observe import get_attr, peek_attr
from .host.effects import convert_assert, load, load_free
from .operators.compare import convert_compare
from .operators.objects import (
    _Index,
    attribute_of,
    convert_setitem,
    convert_setitem_at,
    convert_shape,
    del_attr,
    del_item,
    inplace,
    item_of,
    name,
    set_attr,
    undefined,
)
from .operators.operate import get_item, operate
from .values.text import concatenated, formatted, percent


class VitrifyHelpers:
    """The helpers of `transformers.contract.Helpers`, deciding by value between Python and the program."""

    Shared: Any = object
    index = _Index()

    convert_ifelse = staticmethod(convert_ifelse)
    unchanged = staticmethod(unchanged)
    convert_while = staticmethod(convert_while)
    convert_for = staticmethod(convert_for)
    convert_and = staticmethod(convert_and)
    convert_or = staticmethod(convert_or)
    convert_not = staticmethod(convert_not)
    convert_ifexp = staticmethod(convert_ifexp)
    convert_compare = staticmethod(convert_compare)
    convert_assert = staticmethod(convert_assert)
    convert_raise = staticmethod(convert_raise)
    caught_raise = staticmethod(caught_raise)
    convert_fstring = staticmethod(concatenated)
    formatted = staticmethod(formatted)
    percent = staticmethod(percent)
    convert_shape = staticmethod(convert_shape)
    convert_setitem = staticmethod(convert_setitem)
    convert_setitem_at = staticmethod(convert_setitem_at)
    get_attr = staticmethod(get_attr)
    peek_attr = staticmethod(peek_attr)
    managed = staticmethod(with_converted)
    is_one = staticmethod(is_one)
    give = staticmethod(give)
    give_watched = staticmethod(give_watched)
    delegate = staticmethod(delegate)
    operate = staticmethod(operate)
    truth = staticmethod(truth)
    unpacked = staticmethod(unpacked)
    unpacked_rest = staticmethod(unpacked_rest)
    get_item = staticmethod(get_item)
    set_attr = staticmethod(set_attr)
    del_attr = staticmethod(del_attr)
    del_item = staticmethod(del_item)
    inplace = staticmethod(inplace)
    attr = staticmethod(attribute_of)
    item = staticmethod(item_of)
    name = staticmethod(name)
    Undefined = staticmethod(undefined)
    load = staticmethod(load)
    load_free = staticmethod(load_free)
    pass_on = staticmethod(pass_on)
    new_list = staticmethod(new_list)
    new_tuple = staticmethod(new_tuple)
    new_dict = staticmethod(new_dict)
    new_set = staticmethod(new_set)
    kept_iterator = staticmethod(kept_iterator)
    key = staticmethod(key_of)
    spread = staticmethod(spread)
    named = staticmethod(named)
    list_of = staticmethod(list_of)
    set_of = staticmethod(set_of)
    dict_of = staticmethod(dict_of)
    generator = staticmethod(generator)
    each = staticmethod(each)
    match = staticmethod(match)
    capture, star, same, either = capture, star, same, either
    sequence, mapping, instance = sequence, mapping, instance

    tried = staticmethod(tried)
    returned = staticmethod(returned)
    raised = staticmethod(raised)

    def __init__(self, convert_call: Any, convert_starred: Any, attempt: Any, attempt_starred: Any) -> None:
        self.convert_call = convert_call
        self.convert_starred = convert_starred
        self.attempt = attempt
        self.attempt_starred = attempt_starred

    def __repr__(self) -> str:
        return "<vitrify helpers>"
