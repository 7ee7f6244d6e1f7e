"""try, with, raise, assert; what was assigned before an exception stays assigned."""

# fmt: off
# ruff: noqa
import contextlib

from tests.transformers.corpus import Corpus

CORPUS = Corpus()
case = CORPUS.case


@case(0, 1, 2)
def try_return(x):
    try:
        return 10 // x
    except ZeroDivisionError:
        return "zero"


@case(0, 1, 2)
def try_branch_write_seen_in_handler(x):
    y = "start"
    try:
        if x < 2:
            y = "written"
            10 // x
        y = "end"
    except ZeroDivisionError:
        return y
    return y


@case(0, 1, 2)
def try_loop_write_seen_in_handler(x):
    done = 0
    try:
        for i in range(3):
            done = i
            10 // (i - x)
    except ZeroDivisionError as err:
        return "failed", done, type(err).__name__
    return done


@case(0, 1, 2)
def finally_sees_writes(x):
    log = []
    y = 0
    try:
        while True:
            y += 1
            if y > x:
                raise ValueError(y)
    except ValueError:
        log.append("handler")
    finally:
        log.append(y)
    return log


@case(0, 1, 2)
def return_through_finally(x):
    log = []
    try:
        if x == 1:
            return log
        log.append("body")
    finally:
        log.append("finally")
    log.append("after")
    return log


@case(0, 1, 2, 3)
def try_else(x):
    if x == 3:
        return 3
    try:
        y = 10 // x
        if x == 2:
            return "two"
    except ZeroDivisionError:
        return "zero"
    else:
        y += 1
    return y


@case(0, 1, 2)
def try_else_return(x):
    out = []
    for k in range(3):
        try:
            if k == x:
                continue
            out.append(10 // k)
        except ZeroDivisionError:
            out.append("z")
            if x == 2:
                break
        else:
            out.append("else")
        finally:
            out.append("f")
    return out


@case(0, 1, 2)
def break_in_try(x):
    out = []
    while True:
        try:
            out.append(len(out))
            if len(out) > x:
                break
            if x == 1:
                raise KeyError("k")
        except KeyError as e:
            out.append(str(e))
            continue
        finally:
            out.append("f")
    return out


@case(0, 1, 2)
def return_in_loop_in_try(x):
    log = []
    try:
        for i in range(3):
            try:
                if i == x:
                    return log, i
            finally:
                log.append(i)
    finally:
        log.append("end")
    return log


@case(0, 1)
def reraise(x):
    try:
        if x:
            raise ValueError("v")
        raise KeyError("k")
    except ValueError:
        raise
    except KeyError as e:
        raise RuntimeError("wrapped") from e


@case(0, 1)
def handler_name_gone(x):
    e = "before"
    try:
        if x:
            raise ValueError("v")
    except ValueError as e:
        pass
    return e


@case(0, 5, 11)
def asserts(x):
    assert x < 10, f"too big: {x}"
    if x:
        assert x > 3
    return x


@case(0, 1)
def assert_message_lazy(x):
    assert x == 0, 1 / 0
    return x


@case(0, 1, 2)
def suppress_swallows(x):
    y = 0
    with contextlib.suppress(ZeroDivisionError):
        if x < 2:
            y = 1
            10 // x
            y = 2
    return y


@case(0, 1, 2)
def with_in_loop(x):
    out = []
    for i in range(3):
        with contextlib.nullcontext(i) as k:
            if k == x:
                continue
            if k > 1:
                break
            out.append(k)
    return out


@case(0, 1)
def with_attribute_target(x):
    class Box:
        pass

    b = Box()
    with contextlib.nullcontext(b) as b.me, contextlib.nullcontext(b.me) as other:
        if x:
            return other is b
    return "no"


@case(0, 1)
def nested_handlers(x):
    out = []
    try:
        try:
            if x:
                raise TypeError("t")
            raise ValueError("v")
        except ValueError:
            out.append("inner")
            if not x:
                raise KeyError("k")
        finally:
            out.append("finally")
    except (KeyError, TypeError) as e:
        out.append(type(e).__name__)
    return out


@case(0, 1)
def exception_in_test(x):
    try:
        while 10 // x > 3:
            x += 1
    except ZeroDivisionError:
        x = -1
    return x


@case(0, 1, 2)
def exception_uncaught_in_branch(x):
    if x == 0:
        return [][x]
    elif x == 1:
        return {}["k"]
    return int("x")


@case(0, 1)
def try_in_branch(x):
    if x:
        try:
            y = 1 // 0
        except ZeroDivisionError:
            y = "caught"
    else:
        y = "none"
    return y


@case(0, 1)
def native_return_in_finally(x):
    try:
        return 1 // x
    finally:
        return "finally"


@case(3)
def stop_iteration_in_body(n):
    out = []
    it = iter(range(2))
    try:
        for i in range(n):
            out.append(next(it))
    except StopIteration:
        out.append("stop")
    return out


@case(0, 1)
def exception_chain(x):
    try:
        try:
            [][0]
        except IndexError:
            if x:
                {}["a"]
            raise
    except LookupError as e:
        return type(e).__name__, type(e.__context__).__name__


@case(0, 1)
def name_error_global(x):
    if x:
        return undefined_global_name
    return "ok"
