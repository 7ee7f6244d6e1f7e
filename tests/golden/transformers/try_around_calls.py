# fmt: off
# ruff: noqa
def try_around_calls(read, xs):
    """Where a tensor may let a called function raise what the handler catches."""
    total = 0
    error_1 = None
    first = vt.Undefined('first', 215)
    try:
        broke = False

        def body(x, broke, error_1):
            nonlocal total
            value = total
            error_1, value_1 = vt.attempt(read, x)

            def then(broke, error_1):
                return True, error_1

            def orelse(broke, error_1):
                error_1, value_2 = vt.tried(lambda: value_1 * 2)

                def then_1(broke, error_1):
                    return True, error_1

                def orelse_1(broke, error_1):
                    error_1, value_3 = vt.tried(lambda: vt.inplace('+=', value, value_2))

                    def then_2(broke):
                        return (True,)

                    def orelse_2(broke):
                        nonlocal total
                        total = value_3
                        return (broke,)
                    (broke,) = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                            then_2, orelse_2, (broke,), ('broke',),
                            shared=(vt.name('total', lambda: total),))
                    return broke, error_1
                return vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None), then_1,
                        orelse_1, (broke, error_1), ('broke', 'error_1'),
                        shared=(vt.name('total', lambda: total),))
            return vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None), then, orelse,
                    (broke, error_1), ('broke', 'error_1'),
                    shared=(vt.name('total', lambda: total),))
        broke, error_1 = vt.convert_for(xs, body, (broke, error_1), ('broke', 'error_1'),
                lambda broke, error_1: vt.convert_not(broke),
                shared=(vt.name('total', lambda: total),))

        def orelse_3(error_1, first):
            value_4 = read
            error_1, value_5 = vt.tried(lambda: xs[0])

            def orelse_4(error_1, first):
                error_1, value_6 = vt.attempt(value_4, value_5)

                def orelse_5(first):
                    first = value_6
                    return (first,)
                (first,) = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                        vt.unchanged, orelse_5, (first,), ('first',))
                return error_1, first
            return vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None), vt.unchanged,
                    orelse_4, (error_1, first), ('error_1', 'first'))
        error_1, first = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                vt.unchanged, orelse_3, (error_1, first), ('error_1', 'first'))
    except (KeyError, ValueError) as raised:
        vt.pass_on()
        error_1 = raised

    def then_3(first):
        def then_4():
            error = error_1
            first = vt.convert_call(str)(error)
            return (first,)

        def orelse_6():
            raise vt.convert_raise(error_1)
        return vt.convert_ifelse(vt.convert_call(isinstance)(error_1, (KeyError, ValueError)),
                then_4, orelse_6, (), ('first',))
    (first,) = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None), then_3, vt.unchanged,
            (first,), ('first',))
    return total, vt.load(first)
