# fmt: off
# ruff: noqa
def return_in_try(x, log):
    returned = False
    error_1 = None
    result = vt.Undefined()
    try:
        error = None
        try:
            def then(error, result, returned):
                return vt.convert_call(ValueError)('positive'), result, returned

            def orelse(error, result, returned):
                return error, x, True
            error, result, returned = vt.convert_ifelse(x > 0, then, orelse,
                    (error, result, returned), ('error', 'result', 'returned'))
        except ValueError as raised:
            vt.pass_on()
            error = raised

        def then_1(error_1, result, returned):
            def then_2(error_1, result, returned):
                def then_3(error_1, result, returned):
                    err = error
                    vt.convert_call(log)(err)
                    return error_1, -x, True

                def orelse_1(error_1, result, returned):
                    return error, result, returned
                return vt.convert_ifelse(vt.convert_call(isinstance)(error, ValueError), then_3,
                        orelse_1, (error_1, result, returned), ('error_1', 'result', 'returned'))
            return vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then_2,
                    vt.unchanged, (error_1, result, returned), ('error_1', 'result', 'returned'))
        error_1, result, returned = vt.convert_ifelse(vt.convert_not(returned), then_1,
                vt.unchanged, (error_1, result, returned), ('error_1', 'result', 'returned'))
    finally:
        vt.convert_call(log)(x)

    def then_4(result):
        def then_5():
            raise vt.convert_raise(error_1)
        vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None), then_5, vt.unchanged, (), ())
        return (None,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_4, vt.unchanged, (result,),
            ('result',))
    return result
