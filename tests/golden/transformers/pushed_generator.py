# fmt: off
# ruff: noqa
def generator(sink, xs):
    returned = False
    result = vt.Undefined()

    def body(x, result, returned):
        def then():
            y = x
            return (y,)

        def orelse():
            y = -x
            return (y,)
        (y,) = vt.convert_ifelse(x > 0, then, orelse, (), ('y',))

        def then_1(result, returned):
            return None, True

        def orelse_1(result, returned):
            def then_2(result, returned):
                return None, True
            return vt.convert_ifelse(vt.give(sink, y), then_2, vt.unchanged, (result, returned),
                    ('result', 'returned'))
        return vt.convert_ifelse(y > 5, then_1, orelse_1, (result, returned),
                ('result', 'returned'))
    result, returned = vt.convert_for(xs, body, (result, returned), ('result', 'returned'),
            lambda result, returned: vt.convert_not(returned))

    def then_3(result):
        done, value = vt.delegate(sink, xs)

        def then_4():
            return (None,)

        def orelse_2():
            return (None,)
        return vt.convert_ifelse(done, then_4, orelse_2, (), ('result',))
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_3, vt.unchanged, (result,),
            ('result',))
    return result
