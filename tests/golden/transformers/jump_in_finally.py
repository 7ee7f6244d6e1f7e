# fmt: off
# ruff: noqa
def jump_in_finally(x, log):
    returned_1 = False
    broke = False
    result = vt.Undefined()
    result_1 = vt.Undefined()

    def body(v, broke, result, result_1, returned_1):
        error = None
        returned = False
        try:
            def then(result, returned):
                return vt.convert_call(log)(v), True
            result, returned = vt.convert_ifelse(v > 2, then, vt.unchanged, (result, returned),
                    ('result', 'returned'))
        except BaseException as raised:
            vt.pass_on()
            error = raised

        def then_1(broke, result_1, returned_1):
            return True, result_1, returned_1

        def orelse(broke, result_1, returned_1):
            def then_2():
                raise vt.convert_raise(error)
            vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then_2, vt.unchanged, (),
                    ())

            def then_3(broke, result_1, returned_1):
                return True, result, True
            return vt.convert_ifelse(returned, then_3, vt.unchanged, (broke, result_1, returned_1),
                    ('broke', 'result_1', 'returned_1'))
        broke, result_1, returned_1 = vt.convert_ifelse(v > 3, then_1, orelse,
                (broke, result_1, returned_1), ('broke', 'result_1', 'returned_1'))
        return broke, result, result_1, returned_1
    broke, result, result_1, returned_1 = vt.convert_for(x, body,
            (broke, result, result_1, returned_1), ('broke', 'result', 'result_1', 'returned_1'),
            lambda broke, result, result_1, returned_1: vt.convert_not(broke))

    def then_4(result_1):
        return (x,)
    (result_1,) = vt.convert_ifelse(vt.convert_not(returned_1), then_4, vt.unchanged, (result_1,),
            ('result_1',))
    return result_1
