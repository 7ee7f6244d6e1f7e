# fmt: off
# ruff: noqa
def return_in_nested_loops(xs):
    returned = False
    result = vt.Undefined()

    def body(row, result, returned):
        def body_1(x, result, returned):
            def then(result, returned):
                return x, True
            return vt.convert_ifelse(x < 0, then, vt.unchanged, (result, returned),
                    ('result', 'returned'))
        return vt.convert_for(row, body_1, (result, returned), ('result', 'returned'),
                lambda result, returned: vt.convert_not(returned))
    result, returned = vt.convert_for(xs, body, (result, returned), ('result', 'returned'),
            lambda result, returned: vt.convert_not(returned))

    def then_1(result):
        return (0,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_1, vt.unchanged, (result,),
            ('result',))
    return result
