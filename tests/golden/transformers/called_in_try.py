# fmt: off
# ruff: noqa
def called_in_try(x, check):
    """What such a call calls: its own calls may raise as well."""
    result: vt.Variable
    returned: vt.Variable
    returned = False
    error = None
    result = vt.Undefined()
    value_4 = vt.Undefined()
    try:
        broke = False

        def test(broke, error, value_4):
            return vt.convert_not(broke)

        def body(broke, error, value_4):
            nonlocal result, returned

            def then(broke, value_4):
                error = vt.convert_call(ValueError)('negative')
                broke = True
                return broke, error, value_4

            def orelse(broke, value_4):
                error, value = vt.attempt(check, x)

                def then_1(broke, error, value_4):
                    broke = True
                    return broke, error, value_4

                def orelse_1(broke, error, value_4):
                    value_1 = value
                    error, value_2 = vt.attempt(check, -x)

                    def then_2(broke, error, value_4):
                        broke = True
                        return broke, error, value_4

                    def orelse_2(broke, error, value_4):
                        y = value_1 + value_2
                        value_3 = vt.returned

                        def then_3(broke, error, value_4):
                            value_4 = y
                            return broke, error, value_4

                        def orelse_3(broke, error, value_4):
                            error, value_5 = vt.attempt(check, y)

                            def then_4(broke, value_4):
                                broke = True
                                return broke, value_4

                            def orelse_4(broke, value_4):
                                value_4 = value_5
                                return broke, value_4
                            broke, value_4 = vt.convert_ifelse(
                                    vt.convert_compare(error, 'is not', None), then_4, orelse_4,
                                    (broke, value_4), ('broke', 'value_4'))
                            return broke, error, value_4
                        broke, error, value_4 = vt.convert_ifelse(y > 0, then_3, orelse_3,
                                (broke, error, value_4), ('broke', 'error', 'value_4'))

                        def then_5(broke, error):
                            error, value_6 = vt.attempt(value_3, value_4)

                            def then_6():
                                broke = True
                                return (broke,)

                            def orelse_5():
                                nonlocal result, returned
                                result = value_6
                                returned = True
                                broke = True
                                return (broke,)
                            (broke,) = vt.convert_ifelse(vt.convert_compare(error, 'is not', None),
                                    then_6, orelse_5, (), ('broke',),
                                    shared=(vt.name('result', lambda: result),
                                    vt.name('returned', lambda: returned)))
                            return broke, error
                        broke, error = vt.convert_ifelse(vt.convert_not(broke), then_5,
                                vt.unchanged, (broke, error), ('broke', 'error'),
                                shared=(vt.name('result', lambda: result),
                                vt.name('returned', lambda: returned)))
                        return broke, error, value_4
                    broke, error, value_4 = vt.convert_ifelse(
                            vt.convert_compare(error, 'is not', None), then_2, orelse_2,
                            (broke, error, value_4), ('broke', 'error', 'value_4'),
                            shared=(vt.name('result', lambda: result),
                            vt.name('returned', lambda: returned)))
                    return broke, error, value_4
                broke, error, value_4 = vt.convert_ifelse(vt.convert_compare(error, 'is not', None),
                        then_1, orelse_1, (broke, error, value_4), ('broke', 'error', 'value_4'),
                        shared=(vt.name('result', lambda: result),
                        vt.name('returned', lambda: returned)))
                return broke, error, value_4
            broke, error, value_4 = vt.convert_ifelse(x < 0, then, orelse, (broke, value_4),
                    ('broke', 'error', 'value_4'), shared=(vt.name('result', lambda: result),
                    vt.name('returned', lambda: returned)))
            return broke, error, value_4
        broke, error, value_4 = vt.convert_while(test, body, (broke, error, value_4),
                ('broke', 'error', 'value_4'), shared=(vt.name('result', lambda: result),
                vt.name('returned', lambda: returned)))
    except BaseException as raised_1:
        vt.pass_on()
        error = raised_1

    def then_7(result):

        def then_8():
            result = vt.raised(None)
            return (result,)

        def orelse_6():
            raised = error
            raised = vt.Undefined('raised', 223)
            raised_2 = error
            result = vt.raised(raised_2)
            return (result,)
        (result,) = vt.convert_ifelse(vt.convert_compare(error, 'is', None), then_8, orelse_6, (),
                ('result',))
        return (result,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_7, vt.unchanged, (result,),
            ('result',))
    return result
