# fmt: off
# ruff: noqa
def caught_raise(x):
    broke_1 = False

    def test(broke_1, x):
        return vt.convert_and(vt.convert_not(broke_1), lambda: x < 9)

    def body(broke_1, x):
        error = None
        broke = False
        try:
            def then(broke, error):
                return broke, vt.convert_call(ValueError)(x)

            def orelse(broke, error):
                def then_1(broke):
                    return (True,)
                (broke,) = vt.convert_ifelse(x > 3, then_1, vt.unchanged, (broke,), ('broke',))
                return broke, error
            broke, error = vt.convert_ifelse(x > 5, then, orelse, (broke, error),
                    ('broke', 'error'))
        except ValueError as raised:
            vt.pass_on()
            error = raised

        def then_2(broke_1, x):
            def then_3(broke_1):
                return (True,)
            (broke_1,) = vt.convert_ifelse(broke, then_3, vt.unchanged, (broke_1,), ('broke_1',))
            return broke_1, x

        def orelse_1(broke_1, x):
            def then_4():
                err = error
                x = err.args[0]
                return (x,)

            def orelse_2():
                raise vt.convert_raise(error)
            (x,) = vt.convert_ifelse(vt.convert_call(isinstance)(error, ValueError), then_4,
                    orelse_2, (), ('x',))
            return broke_1, x
        broke_1, x = vt.convert_ifelse(vt.convert_compare(error, 'is', None), then_2, orelse_1,
                (broke_1, x), ('broke_1', 'x'))

        def then_5(x):
            x = x + 1
            return (x,)
        (x,) = vt.convert_ifelse(vt.convert_not(broke_1), then_5, vt.unchanged, (x,), ('x',))
        return broke_1, x
    broke_1, x = vt.convert_while(test, body, (broke_1, x), ('broke_1', 'x'))
    return x
