# fmt: off
# ruff: noqa
def called_in_try(x, check):
    """What such a call calls: its own calls may raise as well."""
    returned = False
    error = None
    result = vt.Undefined()
    value_8 = vt.Undefined()
    try:
        broke = False
        error, value = vt.tried(lambda: x < 0)

        def then(broke, error, result, returned, value_8):
            return error, result, returned

        def orelse(broke, error, result, returned, value_8):
            def then_1(broke, result, returned, value_8):
                return vt.convert_call(ValueError)('negative'), result, returned

            def orelse_1(broke, result, returned, value_8):
                error, value_1 = vt.attempt(check, x)

                def then_2(broke, error, result, returned, value_8):
                    return error, result, returned

                def orelse_2(broke, error, result, returned, value_8):
                    value_2 = value_1
                    value_3 = check
                    error, value_4 = vt.tried(lambda: -x)

                    def then_3(broke, error, result, returned, value_8):
                        return error, result, returned

                    def orelse_3(broke, error, result, returned, value_8):
                        error, value_5 = vt.attempt(value_3, value_4)

                        def then_4(broke, error, result, returned, value_8):
                            return error, result, returned

                        def orelse_4(broke, error, result, returned, value_8):
                            error, value_6 = vt.tried(lambda: value_2 + value_5)

                            def then_5(broke, error, result, returned, value_8):
                                return error, result, returned

                            def orelse_5(broke, error, result, returned, value_8):
                                y = value_6
                                value_7 = vt.returned
                                error, value_9 = vt.tried(lambda: y > 0)

                                def then_6(broke, error, result, returned, value_8):
                                    return error, result, returned

                                def orelse_6(broke, error, result, returned, value_8):
                                    def then_7(broke, error, value_8):
                                        return broke, error, y

                                    def orelse_7(broke, error, value_8):
                                        error, value_10 = vt.attempt(check, y)

                                        def then_8(broke, value_8):
                                            return True, value_8

                                        def orelse_8(broke, value_8):
                                            return broke, value_10
                                        broke, value_8 = vt.convert_ifelse(
                                                vt.convert_compare(error, 'is not', None), then_8,
                                                orelse_8, (broke, value_8), ('broke', 'value_8'))
                                        return broke, error, value_8
                                    broke, error, value_8 = vt.convert_ifelse(value_9, then_7,
                                            orelse_7, (broke, error, value_8),
                                            ('broke', 'error', 'value_8'))

                                    def then_9(error, result, returned):
                                        error, value_11 = vt.attempt(value_7, value_8)

                                        def orelse_9(result, returned):
                                            return value_11, True
                                        result, returned = vt.convert_ifelse(
                                                vt.convert_compare(error, 'is not', None),
                                                vt.unchanged, orelse_9, (result, returned),
                                                ('result', 'returned'))
                                        return error, result, returned
                                    return vt.convert_ifelse(vt.convert_not(broke), then_9,
                                            vt.unchanged, (error, result, returned),
                                            ('error', 'result', 'returned'))
                                return vt.convert_ifelse(vt.convert_compare(error, 'is not', None),
                                        then_6, orelse_6, (broke, error, result, returned,
                                        value_8), ('error', 'result', 'returned'))
                            return vt.convert_ifelse(vt.convert_compare(error, 'is not', None),
                                    then_5, orelse_5, (broke, error, result, returned, value_8),
                                    ('error', 'result', 'returned'))
                        return vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then_4,
                                orelse_4, (broke, error, result, returned, value_8),
                                ('error', 'result', 'returned'))
                    return vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then_3,
                            orelse_3, (broke, error, result, returned, value_8),
                            ('error', 'result', 'returned'))
                return vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then_2,
                        orelse_2, (broke, error, result, returned, value_8),
                        ('error', 'result', 'returned'))
            return vt.convert_ifelse(value, then_1, orelse_1, (broke, result, returned, value_8),
                    ('error', 'result', 'returned'))
        error, result, returned = vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then,
                orelse, (broke, error, result, returned, value_8), ('error', 'result', 'returned'))
    except BaseException as raised_1:
        vt.pass_on()
        error = raised_1

    def then_10(result):
        def then_11():
            raised = error
            return (vt.raised(raised),)

        def orelse_10():
            return (vt.raised(None),)
        return vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then_11, orelse_10, (),
                ('result',))
    (result,) = vt.convert_ifelse(vt.convert_not(returned), then_10, vt.unchanged, (result,),
            ('result',))
    return result
