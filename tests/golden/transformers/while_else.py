# fmt: off
# ruff: noqa
def while_else(n):
    broke = False

    def test(broke, n):
        return vt.convert_and(vt.convert_not(broke), lambda: n > 0)

    def body(broke, n):
        n -= 1

        def then(broke):
            return (True,)
        (broke,) = vt.convert_ifelse(n == 5, then, vt.unchanged, (broke,), ('broke',))
        return broke, n
    broke, n = vt.convert_while(test, body, (broke, n), ('broke', 'n'))

    def then_1(n):
        n = -1
        return (n,)
    (n,) = vt.convert_ifelse(vt.convert_not(broke), then_1, vt.unchanged, (n,), ('n',))
    return n
