# fmt: off
# ruff: noqa
def while_walrus(read):
    more = True
    line = vt.Undefined('line', 86)

    def test(line, more):
        return more

    def body(line, more):
        def then(more):
            vt.convert_call(print)(line)
            return (more,)

        def orelse(more):
            return (False,)
        (more,) = vt.convert_ifelse((line := vt.convert_call(read)()) > 0, then, orelse, (more,),
                ('more',))
        return line, more
    line, more = vt.convert_while(test, body, (line, more), ('line', 'more'))
    return vt.load(line)
