# fmt: off
# ruff: noqa
def try_finally(x, log):
    result: vt.Variable
    returned: vt.Variable
    returned = False
    result = vt.Undefined()
    try:

        def then():
            nonlocal result, returned
            result = x
            returned = True
            return ()

        def orelse():
            nonlocal x
            x = 1 / x
            return ()
        vt.convert_ifelse(x > 0, then, orelse, (), (),
                shared=(vt.name('result', lambda: result), vt.name('returned', lambda: returned),
                vt.name('x', lambda: x)))
    except (ZeroDivisionError, ValueError) as err:
        vt.pass_on()
        x = vt.convert_call(str)(err)
    else:

        def then_1():
            nonlocal x
            x = x + 1
            return ()
        vt.convert_ifelse(vt.convert_not(returned), then_1, vt.unchanged, (), (),
                shared=(vt.name('x', lambda: x),))
    finally:
        vt.convert_call(log)(x)

    def then_2():
        nonlocal result
        result = x
        return ()
    vt.convert_ifelse(vt.convert_not(returned), then_2, vt.unchanged, (), (),
            shared=(vt.name('result', lambda: result),))
    return result
