# fmt: off
# ruff: noqa
def loop_return(xs):
    returned = False
    result = vt.Undefined()

    def body(x, result, returned):
        def then(result, returned):
            return x, True
        return vt.convert_ifelse(x > 0, then, vt.unchanged, (result, returned),
                ('result', 'returned'))
    result, returned = vt.convert_for(xs, body, (result, returned), ('result', 'returned'),
            lambda result, returned: vt.convert_not(returned))

    def then_1(result):
        return (None,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_1, vt.unchanged, (result,),
            ('result',))
    return result
