# fmt: off
# ruff: noqa
def caught_raise(x):
    broke: vt.Variable
    broke_2 = False

    def test(broke_2, x):
        return vt.convert_and(vt.convert_not(broke_2), lambda: x < 9)

    def body(broke_2, x):
        nonlocal broke
        error = None
        broke = False
        try:
            broke_1 = False

            def test_1(broke_1, error):
                return vt.convert_not(broke_1)

            def body_1(broke_1, error):
                nonlocal broke

                def then(error):
                    error = vt.convert_call(ValueError)(x)
                    broke_1 = True
                    return broke_1, error

                def orelse(error):

                    def then_1():
                        nonlocal broke
                        broke = True
                        broke_1 = True
                        return (broke_1,)

                    def orelse_1():
                        broke_1 = True
                        return (broke_1,)
                    (broke_1,) = vt.convert_ifelse(x > 3, then_1, orelse_1, (), ('broke_1',),
                            shared=(vt.name('broke', lambda: broke),))
                    return broke_1, error
                broke_1, error = vt.convert_ifelse(x > 5, then, orelse, (error,),
                        ('broke_1', 'error'), shared=(vt.name('broke', lambda: broke),))
                return broke_1, error
            broke_1, error = vt.convert_while(test_1, body_1, (broke_1, error),
                    ('broke_1', 'error'), shared=(vt.name('broke', lambda: broke),))
        except ValueError as raised:
            vt.pass_on()
            error = raised

        def then_2(broke_2, x):

            def then_3(broke_2):
                broke_2 = True
                return (broke_2,)
            (broke_2,) = vt.convert_ifelse(broke, then_3, vt.unchanged, (broke_2,), ('broke_2',))
            return broke_2, x

        def orelse_2(broke_2, x):

            def then_4():
                err = error
                err = vt.Undefined('err', 122)
                err_1 = error
                x = err_1.args[0]
                return (x,)

            def orelse_3():
                raise vt.convert_raise(error)
            (x,) = vt.convert_ifelse(vt.convert_call(isinstance)(error, ValueError), then_4,
                    orelse_3, (), ('x',))
            return broke_2, x
        broke_2, x = vt.convert_ifelse(vt.convert_compare(error, 'is', None), then_2, orelse_2,
                (broke_2, x), ('broke_2', 'x'))

        def then_5(x):
            x = x + 1
            return (x,)
        (x,) = vt.convert_ifelse(vt.convert_not(broke_2), then_5, vt.unchanged, (x,), ('x',))
        return broke_2, x
    broke_2, x = vt.convert_while(test, body, (broke_2, x), ('broke_2', 'x'),
            shared=(vt.name('broke', lambda: broke),))
    return x
