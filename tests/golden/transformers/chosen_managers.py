# fmt: off
# ruff: noqa
def chosen_managers(x, choose, auto_cast):
    """Where a tensor chooses the context manager, and the flag of another."""
    manager = vt.convert_call(choose)(x)
    y = vt.Undefined('y', 232)

    def then():
        with manager as scale:
            flag = x > 0

            def then_1():
                nonlocal y
                with vt.convert_call(auto_cast)(enable=True):
                    y = x * scale
                return ()

            def orelse():
                nonlocal y
                with vt.convert_call(auto_cast)(enable=False):
                    y = x * scale
                return ()
            vt.convert_ifelse(flag, then_1, orelse, (), (), shared=(vt.name('y', lambda: y),))
        return ()

    def orelse_1():
        with manager as scale:
            flag = x > 0

            def then_2():
                nonlocal y
                with vt.convert_call(auto_cast)(enable=True):
                    y = x * scale
                return ()

            def orelse_2():
                nonlocal y
                with vt.convert_call(auto_cast)(enable=False):
                    y = x * scale
                return ()
            vt.convert_ifelse(flag, then_2, orelse_2, (), (), shared=(vt.name('y', lambda: y),))
        return ()
    vt.convert_ifelse(vt.is_one(manager), then, orelse_1, (), (), shared=(vt.name('y', lambda: y),))
    return vt.load(y)
