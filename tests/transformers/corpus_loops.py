"""Loops: break, continue, else, return, nesting, targets."""

# fmt: off
# ruff: noqa
from tests.transformers.corpus import Corpus

CORPUS = Corpus()
case = CORPUS.case


@case(0, 5, 20)
def while_sum(n):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


@case([1, 2, 3], [], (range(4),))
def for_sum(xs):
    total = 0
    for x in xs:
        total = total + x
    return total


@case([1, 2, 3], [])
def for_target_after(xs):
    x = None
    for x in xs:
        pass
    return x


@case([1, 2, 3], [])
def for_target_unset(xs):
    for x in xs:
        pass
    return x


@case([(1, 2), (3, 4)], [])
def for_tuple_target(pairs):
    out = []
    for a, b in pairs:
        out.append(a * b)
    return out


@case([(1, (2, 3)), (3, (4, 5))])
def for_nested_target(pairs):
    out = 0
    for a, (b, *c) in pairs:
        out += a * b + sum(c)
    return out, a, b, c


@case(3, 10, 0)
def break_simple(n):
    i = 0
    while True:
        if i >= n:
            break
        i += 1
    return i


@case(10)
def break_first(n):
    for i in range(n):
        break
    return i


@case(0, 10)
def break_unconditional_else(n):
    for i in range(n):
        break
    else:
        return "empty"
    return "broken"


@case(10, 0)
def continue_simple(n):
    out = []
    for i in range(n):
        if i % 3 == 0:
            continue
        out.append(i)
    return out


@case(10, 0)
def continue_while(n):
    out = []
    while n:
        n -= 1
        if n % 2:
            continue
        out.append(n)
    return out


@case((10, 5), (3, 5), (0, 0))
def break_else(n, at):
    for i in range(n):
        if i == at:
            found = True
            break
    else:
        found = False
    return found


@case((10, 5), (3, 5), (0, 0))
def while_else(n, at):
    i = 0
    while i < n:
        if i == at:
            break
        i += 1
    else:
        return "end", i
    return "found", i


@case(10)
def else_without_break(n):
    total = 0
    for i in range(n):
        total += i
    else:
        total = -total
    return total


@case((6, 7), (2, 2), (0, 0), (30, 1))
def nested_break(n, m):
    out = []
    for i in range(n):
        for j in range(m):
            if i * j > 6:
                break
            out.append((i, j))
    return out


@case((6, 7), (2, 2), (0, 0), (30, 1))
def nested_break_continue(n, m):
    out = []
    for i in range(n):
        if i == 1:
            continue
        j = 0
        while j < m:
            j += 1
            if j == 2:
                continue
            if i + j > 8:
                break
            out.append((i, j))
        else:
            out.append("else")
        if i == 4:
            break
    else:
        out.append("outer else")
    return out


@case(5, 1, 0, 3)
def nested_three(n):
    out = []
    for i in range(n):
        for j in range(n):
            if j == 3:
                break
            k = 0
            while True:
                k += 1
                if k > j:
                    break
                if (i + j + k) % 4 == 0:
                    continue
                if i * j * k == 6:
                    return out, i, j, k
                out.append(i * 100 + j * 10 + k)
            else:
                out.append("never")
        else:
            out.append("j done")
            continue
        out.append("j broken")
    return out


@case(([[1, 2], [3, 4]], 3), ([[1]], 9), ([], 0))
def find_in_nested(rows, wanted):
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if value == wanted:
                return i, j
    return None


@case(([[1, 2], [3, 4]], 3), ([[1]], 9), ([], 0))
def find_no_default(rows, wanted):
    for row in rows:
        for value in row:
            if value == wanted:
                return value


@case(5, 0, 100)
def while_true_return(n):
    i = 0
    while True:
        i += 1
        if i * i > n:
            return i


@case(5, 0, 100)
def while_true_return_nested(n):
    i = 0
    while True:
        j = 0
        while True:
            j += 1
            if i * j > n:
                return i, j
            if j > i:
                break
        i += 1


@case(3, 0)
def loop_var_persists(n):
    for i in range(4):
        if i == n:
            x = i * 10
        if i > n:
            x += 1
    return x


@case(3)
def loop_carries_from_last(n):
    out = []
    for i in range(n):
        if i == 0:
            y = "first"
        out.append(y)
        y = i
    return out


@case(3, 0)
def unset_in_loop(n):
    for i in range(n):
        if i == 1:
            y = 2
        z = y
    return z


@case((5, 2), (0, 2))
def while_compound_test(n, k):
    while n > 0 and not n == k or n > 4:
        n -= 1
    return n


@case([3, 2, 1, 0, 5], [0])
def while_walrus(xs):
    xs = list(xs)
    seen = []
    while (x := xs.pop(0)) > 0:
        seen.append(x)
    return seen, x


@case([3, 2, 1, 0, 5], [0], [9, 1])
def while_walrus_break_else(xs):
    xs = list(xs)
    seen = []
    while (x := xs.pop(0)) > 0:
        if x == 9:
            break
        if x == 2:
            continue
        seen.append(x)
    else:
        seen.append("else")
    return seen, x


@case(4)
def shadow_loop_variable(n):
    out = []
    for i in range(n):
        for i in range(2):
            out.append(i)
        out.append(i)
    return out


@case(6)
def modify_loop_variable(n):
    out = []
    for i in range(n):
        i = i * 2
        out.append(i)
    return out, i


@case(4)
def for_over_attribute_target(n):
    class Box:
        pass

    box = Box()
    for box.i in range(n):
        if box.i == 2:
            break
    return box.i


@case(4)
def for_over_item_target(n):
    d = {}
    for d["k"] in range(n):
        pass
    return d


@case([1, 2, 3, 4])
def for_mutates_iterable(xs):
    xs = list(xs)
    for x in xs:
        if x < 3 and len(xs) < 20:
            xs.append(x + 1)
    return xs


@case({"a": 1, "b": 2})
def for_dict_items(d):
    out = []
    for key, value in d.items():
        if value > 1:
            out.append(key)
    return out


@case(([1, 2, 3], "abc"))
def for_zip_enumerate(a, b):
    out = []
    for i, (x, y) in enumerate(zip(a, b), start=1):
        if i == 2:
            continue
        out.append((i, x, y))
    return out


@case(5)
def for_reversed(n):
    out = []
    for i in reversed(range(n)):
        out.append(i)
        if i == 1:
            break
    return out


@case([5, 3, 9, 1], [])
def bubble_sort(xs):
    xs = list(xs)
    n = len(xs)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
                swapped = True
        if not swapped:
            break
    return xs


@case(30)
def primes(n):
    out = []
    for i in range(2, n):
        for p in out:
            if i % p == 0:
                break
        else:
            out.append(i)
    return out


@case(27, 1)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case((48, 18), (5, 0))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@case(2.0)
def newton(x):
    guess = x
    for _ in range(50):
        new = (guess + x / guess) / 2
        if abs(new - guess) < 1e-12:
            break
        guess = new
    return guess


@case(3)
def break_in_both(n):
    out = []
    for i in range(5):
        if i == n:
            out.append("a")
            break
        else:
            out.append("b")
            continue
        out.append("dead")
    return out


@case(0, 1, 2, 3)
def break_deep_if(n):
    out = []
    for i in range(5):
        if i >= 1:
            if n == 0:
                out.append("x")
            elif n == 1:
                break
            else:
                if i == 3:
                    continue
            out.append("y")
        out.append(i)
    return out


@case(0, 1, 2)
def continue_before_assignment(n):
    total = 0
    for i in range(6):
        if i % 2 == n:
            continue
        square = i * i
        total += square
    return total, square


@case(4, 0)
def else_with_return_and_break(n):
    for i in range(n):
        if i == 10:
            break
    else:
        return "exhausted"
    return "broke"


@case(4, 12)
def else_with_return_inside_loop(n):
    out = []
    for k in range(3):
        for i in range(n):
            if i == 10:
                out.append("b")
                break
        else:
            if k == 1:
                return out
            out.append("e")
    return out


@case(4)
def else_break_outer(n):
    out = []
    for i in range(n):
        while i > 0:
            i -= 1
            if i == 1:
                break
        else:
            out.append(i)
            if len(out) == 2:
                break
            continue
        out.append(-1)
    return out


@case(3)
def empty_bodies(n):
    for _ in range(n):
        pass
    while False:
        pass
    if n:
        pass
    return n


@case(10)
def generator_iterated(n):
    total = 0
    for x in (i * i for i in range(n) if i % 2):
        total += x
        if total > 50:
            break
    return total


@case(3)
def while_constant_one(n):
    while 1:
        n += 1
        if n > 7:
            break
    return n


@case(3)
def for_string(n):
    out = ""
    for c in "hello":
        out = c + out
    return out


@case(0, 2)
def return_in_else_of_while(n):
    while n > 0:
        n -= 1
    else:
        return "done"


@case(5)
def loop_without_state(n):
    out = []
    for i in range(n):
        out.append(i)
    for i in range(n):
        out.append(-i)
    return out


@case(4)
def starred_assign_in_loop(n):
    rest = []
    for i in range(n):
        first, *rest = [i, *rest]
        if i == 2:
            continue
        rest = rest + [first]
    return first, rest
