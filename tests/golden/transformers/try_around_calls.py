# fmt: off
# ruff: noqa
def try_around_calls(read, xs):
    """Where a tensor may let a called function raise what the handler catches."""
    first: vt.Variable
    total: vt.Variable
    total = 0
    error_1 = None
    first = vt.Undefined('first', 215)
    try:
        broke_1 = False

        def test(broke_1, error_1):
            return vt.convert_not(broke_1)

        def body(broke_1, error_1):
            nonlocal first
            broke = False

            def body_1(x, broke, error_1):
                nonlocal total
                value = total
                error_1, value_1 = vt.attempt(read, x)

                def then(broke, error_1):
                    broke = True
                    return broke, error_1

                def orelse(broke, error_1):
                    error_1, value_2 = vt.tried(lambda: value_1 * 2)

                    def then_1(broke, error_1):
                        broke = True
                        return broke, error_1

                    def orelse_1(broke, error_1):
                        error_1, value_3 = vt.tried(lambda: vt.inplace('+=', value, value_2))

                        def then_2(broke):
                            broke = True
                            return (broke,)

                        def orelse_2(broke):
                            nonlocal total
                            total = value_3
                            return (broke,)
                        (broke,) = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                                then_2, orelse_2, (broke,), ('broke',),
                                shared=(vt.name('total', lambda: total),))
                        return broke, error_1
                    broke, error_1 = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                            then_1, orelse_1, (broke, error_1), ('broke', 'error_1'),
                            shared=(vt.name('total', lambda: total),))
                    return broke, error_1
                broke, error_1 = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                        then, orelse, (broke, error_1), ('broke', 'error_1'),
                        shared=(vt.name('total', lambda: total),))
                return broke, error_1
            broke, error_1 = vt.convert_for(xs, body_1, (broke, error_1), ('broke', 'error_1'),
                    lambda broke, error_1: vt.convert_not(broke),
                    shared=(vt.name('total', lambda: total),))

            def then_3(error_1):
                broke_1 = True
                return broke_1, error_1

            def orelse_3(error_1):
                value_4 = read
                error_1, value_5 = vt.tried(lambda: xs[0])

                def then_4(error_1):
                    broke_1 = True
                    return broke_1, error_1

                def orelse_4(error_1):
                    error_1, value_6 = vt.attempt(value_4, value_5)

                    def then_5():
                        broke_1 = True
                        return (broke_1,)

                    def orelse_5():
                        nonlocal first
                        first = value_6
                        broke_1 = True
                        return (broke_1,)
                    (broke_1,) = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                            then_5, orelse_5, (), ('broke_1',),
                            shared=(vt.name('first', lambda: first),))
                    return broke_1, error_1
                broke_1, error_1 = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                        then_4, orelse_4, (error_1,), ('broke_1', 'error_1'),
                        shared=(vt.name('first', lambda: first),))
                return broke_1, error_1
            broke_1, error_1 = vt.convert_ifelse(vt.convert_compare(error_1, 'is not', None),
                    then_3, orelse_3, (error_1,), ('broke_1', 'error_1'),
                    shared=(vt.name('first', lambda: first),))
            return broke_1, error_1
        broke_1, error_1 = vt.convert_while(test, body, (broke_1, error_1), ('broke_1', 'error_1'),
                shared=(vt.name('first', lambda: first), vt.name('total', lambda: total)))
    except (KeyError, ValueError) as raised:
        vt.pass_on()
        error_1 = raised

    def orelse_6(first):

        def then_6():
            error = error_1
            error = vt.Undefined('error', 216)
            error_2 = error_1
            first = vt.convert_call(str)(error_2)
            return (first,)

        def orelse_7():
            raise vt.convert_raise(error_1)
        (first,) = vt.convert_ifelse(vt.convert_call(isinstance)(error_1, (KeyError, ValueError)),
                then_6, orelse_7, (), ('first',))
        return (first,)
    (first,) = vt.convert_ifelse(vt.convert_compare(error_1, 'is', None), vt.unchanged, orelse_6,
            (first,), ('first',))
    return total, vt.load(first)
