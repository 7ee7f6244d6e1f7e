# fmt: off
# ruff: noqa
def while_loop(n):
    total = 0

    def test(n, total):
        return n > 0

    def body(n, total):
        total += n
        n -= 1
        return n, total
    n, total = vt.convert_while(test, body, (n, total), ('n', 'total'))
    return total
