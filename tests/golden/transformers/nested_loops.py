# fmt: off
# ruff: noqa
def nested_loops(xs, limit):
    count = 0

    def body(row, count):
        broke = False

        def body_1(x, broke, count):
            def then(broke, count):
                return True, count

            def orelse(broke, count):
                def orelse_1(count):
                    count += x
                    return (count,)
                (count,) = vt.convert_ifelse(x > limit, vt.unchanged, orelse_1, (count,),
                        ('count',))
                return broke, count
            return vt.convert_ifelse(x < 0, then, orelse, (broke, count), ('broke', 'count'))
        broke, count = vt.convert_for(row, body_1, (broke, count), ('broke', 'count'),
                lambda broke, count: vt.convert_not(broke))

        def then_1(count):
            count += 100
            return (count,)
        return vt.convert_ifelse(vt.convert_not(broke), then_1, vt.unchanged, (count,), ('count',))
    (count,) = vt.convert_for(xs, body, (count,), ('count',))
    return count
