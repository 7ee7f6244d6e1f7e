# fmt: off
# ruff: noqa
def for_tuple_state(pairs):
    a, (b, *c) = 0, (1, 2)

    def body(item, a, b, c):
        a, (b, *c) = item
        b = b + a
        return a, b, c
    a, b, c = vt.convert_for(pairs, body, (a, b, c), ('a', 'b', 'c'))
    return a, b, c
