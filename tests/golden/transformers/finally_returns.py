# fmt: off
# ruff: noqa
def finally_returns(xs):
    returned = False
    result = vt.Undefined()

    def body(x, result, returned):
        error = None
        try:
            def then(error):
                return (vt.convert_call(ValueError)(),)
            (error,) = vt.convert_ifelse(x > 0, then, vt.unchanged, (error,), ('error',))
        except BaseException as raised:
            vt.pass_on()
            error = raised
        return x, True
    result, returned = vt.convert_for(xs, body, (result, returned), ('result', 'returned'),
            lambda result, returned: vt.convert_not(returned))

    def then_1(result):
        return (None,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_1, vt.unchanged, (result,),
            ('result',))
    return result
