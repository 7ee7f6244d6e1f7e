# fmt: off
# ruff: noqa
def jump_in_finally(x, log):
    result: vt.Variable
    returned: vt.Variable
    returned_1 = False
    broke_1 = False
    result = vt.Undefined()
    result_1 = vt.Undefined()

    def body(v, broke_1, result_1, returned_1):
        nonlocal returned
        error = None
        returned = False
        try:
            broke = False

            def test(broke):
                return vt.convert_not(broke)

            def body_1(broke):
                nonlocal result, returned

                def then():
                    nonlocal result, returned
                    result = vt.convert_call(log)(v)
                    returned = True
                    broke = True
                    return (broke,)

                def orelse():
                    broke = True
                    return (broke,)
                (broke,) = vt.convert_ifelse(v > 2, then, orelse, (), ('broke',),
                        shared=(vt.name('result', lambda: result),
                        vt.name('returned', lambda: returned)))
                return (broke,)
            (broke,) = vt.convert_while(test, body_1, (broke,), ('broke',),
                    shared=(vt.name('result', lambda: result),
                    vt.name('returned', lambda: returned)))
        except BaseException as raised:
            vt.pass_on()
            error = raised

        def then_1(broke_1, result_1, returned_1):
            broke_1 = True
            return broke_1, result_1, returned_1

        def orelse_1(broke_1, result_1, returned_1):

            def then_2():
                raise vt.convert_raise(error)
            vt.convert_ifelse(vt.convert_compare(error, 'is not', None), then_2, vt.unchanged, (),
                    ())

            def then_3(broke_1, result_1, returned_1):
                result_1 = result
                returned_1 = True
                broke_1 = True
                return broke_1, result_1, returned_1
            broke_1, result_1, returned_1 = vt.convert_ifelse(returned, then_3, vt.unchanged,
                    (broke_1, result_1, returned_1), ('broke_1', 'result_1', 'returned_1'))
            return broke_1, result_1, returned_1
        broke_1, result_1, returned_1 = vt.convert_ifelse(v > 3, then_1, orelse_1,
                (broke_1, result_1, returned_1), ('broke_1', 'result_1', 'returned_1'))
        return broke_1, result_1, returned_1
    broke_1, result_1, returned_1 = vt.convert_for(x, body, (broke_1, result_1, returned_1),
            ('broke_1', 'result_1', 'returned_1'),
            lambda broke_1, result_1, returned_1: vt.convert_not(broke_1),
            shared=(vt.name('result', lambda: result), vt.name('returned', lambda: returned)))

    def then_4(result_1):
        result_1 = x
        return (result_1,)
    (result_1,) = vt.convert_ifelse(vt.convert_not(returned_1), then_4, vt.unchanged, (result_1,),
            ('result_1',))
    return result_1
