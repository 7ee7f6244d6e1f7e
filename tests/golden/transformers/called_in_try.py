# fmt: off
# ruff: noqa
def called_in_try(x, check):
    """What such a call calls: its own calls may raise as well."""
    result: vt.Variable
    returned: vt.Variable
    returned = False
    error = None
    result = vt.Undefined()
    value_6 = vt.Undefined()
    try:
        broke = False

        def test(broke, error, value_6):
            return vt.convert_not(broke)

        def body(broke, error, value_6):
            nonlocal result, returned
            error, value = vt.tried(lambda: x < 0)

            def then(broke, error, value_6):
                broke = True
                return broke, error, value_6

            def orelse(broke, error, value_6):

                def then_1(broke, value_6):
                    error = vt.convert_call(ValueError)('negative')
                    broke = True
                    return broke, error, value_6

                def orelse_1(broke, value_6):
                    error, value_1 = vt.attempt(check, x)

                    def then_2(broke, error, value_6):
                        broke = True
                        return broke, error, value_6

                    def orelse_2(broke, error, value_6):
                        value_2 = value_1
                        error, value_3 = vt.attempt(check, -x)

                        def then_3(broke, error, value_6):
                            broke = True
                            return broke, error, value_6

                        def orelse_3(broke, error, value_6):
                            error, value_4 = vt.tried(lambda: value_2 + value_3)

                            def then_4(broke, error, value_6):
                                broke = True
                                return broke, error, value_6

                            def orelse_4(broke, error, value_6):
                                y = value_4
                                value_5 = vt.returned
                                error, value_7 = vt.tried(lambda: y > 0)

                                def then_5(broke, error, value_6):
                                    broke = True
                                    return broke, error, value_6

                                def orelse_5(broke, error, value_6):

                                    def then_6(broke, error, value_6):
                                        value_6 = y
                                        return broke, error, value_6

                                    def orelse_6(broke, error, value_6):
                                        error, value_8 = vt.attempt(check, y)

                                        def then_7(broke, value_6):
                                            broke = True
                                            return broke, value_6

                                        def orelse_7(broke, value_6):
                                            value_6 = value_8
                                            return broke, value_6
                                        broke, value_6 = vt.convert_ifelse(
                                                vt.convert_compare(error, 'is not', None), then_7,
                                                orelse_7, (broke, value_6), ('broke', 'value_6'))
                                        return broke, error, value_6
                                    broke, error, value_6 = vt.convert_ifelse(value_7, then_6,
                                            orelse_6, (broke, error, value_6),
                                            ('broke', 'error', 'value_6'))

                                    def then_8(broke, error):
                                        error, value_9 = vt.attempt(value_5, value_6)

                                        def then_9():
                                            broke = True
                                            return (broke,)

                                        def orelse_8():
                                            nonlocal result, returned
                                            result = value_9
                                            returned = True
                                            broke = True
                                            return (broke,)
                                        (broke,) = vt.convert_ifelse(
                                                vt.convert_compare(error, 'is not', None), then_9,
                                                orelse_8, (), ('broke',), shared=(
                                                vt.name('result', lambda: result),
                                                vt.name('returned', lambda: returned)))
                                        return broke, error
                                    broke, error = vt.convert_ifelse(vt.convert_not(broke), then_8,
                                            vt.unchanged, (broke, error), ('broke', 'error'),
                                            shared=(vt.name('result', lambda: result),
                                            vt.name('returned', lambda: returned)))
                                    return broke, error, value_6
                                broke, error, value_6 = vt.convert_ifelse(
                                        vt.convert_compare(error, 'is not', None), then_5, orelse_5,
                                        (broke, error, value_6), ('broke', 'error', 'value_6'),
                                        shared=(vt.name('result', lambda: result),
                                        vt.name('returned', lambda: returned)))
                                return broke, error, value_6
                            broke, error, value_6 = vt.convert_ifelse(
                                    vt.convert_compare(error, 'is not', None), then_4, orelse_4,
                                    (broke, error, value_6), ('broke', 'error', 'value_6'),
                                    shared=(vt.name('result', lambda: result),
                                    vt.name('returned', lambda: returned)))
                            return broke, error, value_6
                        broke, error, value_6 = vt.convert_ifelse(
                                vt.convert_compare(error, 'is not', None), then_3, orelse_3,
                                (broke, error, value_6), ('broke', 'error', 'value_6'),
                                shared=(vt.name('result', lambda: result),
                                vt.name('returned', lambda: returned)))
                        return broke, error, value_6
                    broke, error, value_6 = vt.convert_ifelse(
                            vt.convert_compare(error, 'is not', None), then_2, orelse_2,
                            (broke, error, value_6), ('broke', 'error', 'value_6'),
                            shared=(vt.name('result', lambda: result),
                            vt.name('returned', lambda: returned)))
                    return broke, error, value_6
                broke, error, value_6 = vt.convert_ifelse(value, then_1, orelse_1, (broke, value_6),
                        ('broke', 'error', 'value_6'), shared=(vt.name('result', lambda: result),
                        vt.name('returned', lambda: returned)))
                return broke, error, value_6
            broke, error, value_6 = vt.convert_ifelse(vt.convert_compare(error, 'is not', None),
                    then, orelse, (broke, error, value_6), ('broke', 'error', 'value_6'),
                    shared=(vt.name('result', lambda: result),
                    vt.name('returned', lambda: returned)))
            return broke, error, value_6
        broke, error, value_6 = vt.convert_while(test, body, (broke, error, value_6),
                ('broke', 'error', 'value_6'), shared=(vt.name('result', lambda: result),
                vt.name('returned', lambda: returned)))
    except BaseException as raised_1:
        vt.pass_on()
        error = raised_1

    def then_10(result):

        def then_11():
            result = vt.raised(None)
            return (result,)

        def orelse_9():
            raised = error
            raised = vt.Undefined('raised', 223)
            raised_2 = error
            result = vt.raised(raised_2)
            return (result,)
        (result,) = vt.convert_ifelse(vt.convert_compare(error, 'is', None), then_11, orelse_9, (),
                ('result',))
        return (result,)
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_10, vt.unchanged, (result,),
            ('result',))
    return result
