# fmt: off
# ruff: noqa
def while_true_break(x):
    broke = False

    def test(broke, x):
        return vt.convert_not(broke)

    def body(broke, x):
        x = x / 2

        def then(broke):
            return (True,)
        (broke,) = vt.convert_ifelse(x < 1, then, vt.unchanged, (broke,), ('broke',))
        return broke, x
    broke, x = vt.convert_while(test, body, (broke, x), ('broke', 'x'))
    return x
