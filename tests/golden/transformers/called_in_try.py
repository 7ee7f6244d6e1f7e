# fmt: off
# ruff: noqa
def called_in_try(x, check):
    """What such a call calls: its own calls may raise as well."""
    result: vt.Variable
    returned: vt.Variable
    returned = False
    error = None
    result = vt.Undefined()
    value_8 = vt.Undefined()
    try:
        broke = False

        def test(broke, error, value_8):
            return vt.convert_not(broke)

        def body(broke, error, value_8):
            nonlocal result, returned
            error, value = vt.tried(lambda: x < 0)

            def then(broke, error, value_8):
                broke = True
                return broke, error, value_8

            def orelse(broke, error, value_8):

                def then_1(broke, value_8):
                    error = vt.convert_call(ValueError)('negative')
                    broke = True
                    return broke, error, value_8

                def orelse_1(broke, value_8):
                    error, value_1 = vt.attempt(check, x)

                    def then_2(broke, error, value_8):
                        broke = True
                        return broke, error, value_8

                    def orelse_2(broke, error, value_8):
                        value_2 = value_1
                        value_3 = check
                        error, value_4 = vt.tried(lambda: -x)

                        def then_3(broke, error, value_8):
                            broke = True
                            return broke, error, value_8

                        def orelse_3(broke, error, value_8):
                            error, value_5 = vt.attempt(value_3, value_4)

                            def then_4(broke, error, value_8):
                                broke = True
                                return broke, error, value_8

                            def orelse_4(broke, error, value_8):
                                error, value_6 = vt.tried(lambda: value_2 + value_5)

                                def then_5(broke, error, value_8):
                                    broke = True
                                    return broke, error, value_8

                                def orelse_5(broke, error, value_8):
                                    y = value_6
                                    value_7 = vt.returned
                                    error, value_9 = vt.tried(lambda: y > 0)

                                    def then_6(broke, error, value_8):
                                        broke = True
                                        return broke, error, value_8

                                    def orelse_6(broke, error, value_8):

                                        def then_7(broke, error, value_8):
                                            value_8 = y
                                            return broke, error, value_8

                                        def orelse_7(broke, error, value_8):
                                            error, value_10 = vt.attempt(check, y)

                                            def then_8(broke, value_8):
                                                broke = True
                                                return broke, value_8

                                            def orelse_8(broke, value_8):
                                                value_8 = value_10
                                                return broke, value_8
                                            broke, value_8 = vt.convert_ifelse(
                                                    vt.convert_compare(error, 'is not', None),
                                                    then_8, orelse_8, (broke, value_8),
                                                    ('broke', 'value_8'))
                                            return broke, error, value_8
                                        broke, error, value_8 = vt.convert_ifelse(value_9, then_7,
                                                orelse_7, (broke, error, value_8),
                                                ('broke', 'error', 'value_8'))

                                        def then_9(broke, error):
                                            error, value_11 = vt.attempt(value_7, value_8)

                                            def then_10():
                                                broke = True
                                                return (broke,)

                                            def orelse_9():
                                                nonlocal result, returned
                                                result = value_11
                                                returned = True
                                                broke = True
                                                return (broke,)
                                            (broke,) = vt.convert_ifelse(
                                                    vt.convert_compare(error, 'is not', None),
                                                    then_10, orelse_9, (), ('broke',),
                                                    shared=(vt.name('result', lambda: result),
                                                    vt.name('returned', lambda: returned)))
                                            return broke, error
                                        broke, error = vt.convert_ifelse(vt.convert_not(broke),
                                                then_9, vt.unchanged, (broke, error),
                                                ('broke', 'error'), shared=(vt.name('result',
                                                lambda: result), vt.name('returned',
                                                lambda: returned)))
                                        return broke, error, value_8
                                    broke, error, value_8 = vt.convert_ifelse(
                                            vt.convert_compare(error, 'is not', None), then_6,
                                            orelse_6, (broke, error, value_8),
                                            ('broke', 'error', 'value_8'), shared=(
                                            vt.name('result', lambda: result),
                                            vt.name('returned', lambda: returned)))
                                    return broke, error, value_8
                                broke, error, value_8 = vt.convert_ifelse(
                                        vt.convert_compare(error, 'is not', None), then_5, orelse_5,
                                        (broke, error, value_8), ('broke', 'error', 'value_8'),
                                        shared=(vt.name('result', lambda: result),
                                        vt.name('returned', lambda: returned)))
                                return broke, error, value_8
                            broke, error, value_8 = vt.convert_ifelse(
                                    vt.convert_compare(error, 'is not', None), then_4, orelse_4,
                                    (broke, error, value_8), ('broke', 'error', 'value_8'),
                                    shared=(vt.name('result', lambda: result),
                                    vt.name('returned', lambda: returned)))
                            return broke, error, value_8
                        broke, error, value_8 = vt.convert_ifelse(
                                vt.convert_compare(error, 'is not', None), then_3, orelse_3,
                                (broke, error, value_8), ('broke', 'error', 'value_8'),
                                shared=(vt.name('result', lambda: result),
                                vt.name('returned', lambda: returned)))
                        return broke, error, value_8
                    broke, error, value_8 = vt.convert_ifelse(
                            vt.convert_compare(error, 'is not', None), then_2, orelse_2,
                            (broke, error, value_8), ('broke', 'error', 'value_8'),
                            shared=(vt.name('result', lambda: result),
                            vt.name('returned', lambda: returned)))
                    return broke, error, value_8
                broke, error, value_8 = vt.convert_ifelse(value, then_1, orelse_1, (broke, value_8),
                        ('broke', 'error', 'value_8'), shared=(vt.name('result', lambda: result),
                        vt.name('returned', lambda: returned)))
                return broke, error, value_8
            broke, error, value_8 = vt.convert_ifelse(vt.convert_compare(error, 'is not', None),
                    then, orelse, (broke, error, value_8), ('broke', 'error', 'value_8'),
                    shared=(vt.name('result', lambda: result),
                    vt.name('returned', lambda: returned)))
            return broke, error, value_8
        broke, error, value_8 = vt.convert_while(test, body, (broke, error, value_8),
                ('broke', 'error', 'value_8'), shared=(vt.name('result', lambda: result),
                vt.name('returned', lambda: returned)))
    except BaseException as raised_1:
        vt.pass_on()
        error = raised_1

    def then_11(result):

        def then_12():
            result = vt.raised(None)
            return (result,)

        def orelse_10():
            raised = error
            raised = vt.Undefined('raised', 223)
            raised_2 = error
            result = vt.raised(raised_2)
            return (result,)
        (result,) = vt.convert_ifelse(vt.convert_compare(error, 'is', None), then_12, orelse_10, (),
                ('result',))
        return (result,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_11, vt.unchanged, (result,),
            ('result',))
    return result
