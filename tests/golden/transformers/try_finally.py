# fmt: off
# ruff: noqa
def try_finally(x, log):
    returned = False
    result = vt.Undefined()
    try:
        def then(result, returned, x):
            return x, True, x

        def orelse(result, returned, x):
            x = 1 / x
            return result, returned, x
        result, returned, x = vt.convert_ifelse(x > 0, then, orelse, (result, returned, x),
                ('result', 'returned', 'x'))
    except (ZeroDivisionError, ValueError) as err:
        vt.pass_on()
        x = vt.convert_call(str)(err)
    else:
        def then_1(x):
            x = x + 1
            return (x,)
        (x,) = vt.convert_ifelse(vt.convert_not(returned), then_1, vt.unchanged, (x,), ('x',))
    finally:
        vt.convert_call(log)(x)

    def then_2(result):
        return (x,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_2, vt.unchanged, (result,),
            ('result',))
    return result
