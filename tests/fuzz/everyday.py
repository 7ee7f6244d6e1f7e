"""What models are full of, for seeds from `WIDE_FROM` on: objects with state, records in loops, closures."""

from __future__ import annotations

from .grammar import Scope, Writer, rule

# As in `idioms`; `{w}` is a third new name.
FRAGMENTS = (
    """
{v} = State(<vec> * 1, 0)
for {t} in range(3):
    if <flag>:
        {v} = replace({v}, h={v}.h * 0.5 + <vec>, n={v}.n + 1)
    else:
        {v}.h = {v}.h - <scalar>
# state
""",
    """
{v} = Pair(<vec>, <scalar>)
{t} = 0
while {v}.second.abs() > 0.2 and {t} < 4:
    {v} = Pair(first={v}.first * 0.5, second={v}.second * 0.5)
    {t} += 1
# pair
""",
    """
{v} = 0
def {w}():
    nonlocal {v}
    {v} += 1
    return <vec> * {v}
for {t} in <vec>:
    if {t} > <pyfloat>:
        {w}()
# pyint
""",
    """
{w} = Tracker(<vec>)
for {t} in (<vec>, <vec>, <vec>):
    {w}({t})
    if <flag>:
        break
    {w}.note({t})
{v} = {w}.best + {w}.state * len({w})
# vec
""",
    """
{w} = Tracker.of(<vec>) + <scalar>
for {t} in range(2):
    {w} = {w} + <vec> if {w}.state.sum() < <scalar> else {w}.note({w}.state)
{v} = {w}[0]
# vec
""",
    """
with Tracker(<vec>) as {w}:
    if <flag>:
        {w}.decay = <pyfloat>
    {w}(<vec>)
{v} = {w}(<vec>)
# vec
""",
    """
{v} = <vec>
{t} = 0
while ({w} := {v}.sum().abs()) > 0.3 and {t} < 4:
    {v} = {v} * 0.5 + {w} * 0.01
    {t} += 1
else:
    {v} = {v} + {w}
# vec
""",
    """
{v} = <vec>
try:
    {v} = strict(<vec>, <pyfloat>)
    {v} = {v} + 0.25
except ValueError:
    {v} = {v} * 0.5
finally:
    {v} = {v} + 0.125
# vec
""",
    """
{v} = <vec>
for {t} in [<vec>, <vec>, <vec>]:
    try:
        if {t}.sum() > <pyfloat>:
            raise KeyError("planned")
        {v} = {v} + strict({t})
    except KeyError:
        continue
    except ValueError:
        break
# vec
""",
    """
{v} = even(<vec>, 3) + odd(<vec>, <pyint> % 3)
# vec
""",
    """
{v} = collect(<vec>, 3, [])
{v}.append(<vec>)
# list
""",
    """
{v} = [{t} * 0.5 for {t} in pieces(<vec>, 2)]
# list
""",
    """
{v} = mixed(<vec>, <pyfloat>, *<list!>, last=<vec> if <flag> else None, extra=<vec>)
# vec
""",
    """
{w} = {{"second": <pyfloat>, "more": <vec>}}
{v} = mixed(<vec>, **{w})
# vec
""",
    """
{v} = [<vec>, <vec>, <vec>]
{v}[1:] = [{t} + <scalar> for {t} in {v}[:2]]
del {v}[<pyint> % 2]
{v}.sort(key=lambda a: -a.sum())
# list
""",
    """
{w} = [3, 1, 2]
{w}.sort(reverse=<pybool>)
{v} = <vec> * {w}.index(1) + {w}.count(2)
# vec
""",
    """
{v} = {{k: a * 2 for k, a in <dict!>.items() if k != "c"}}
for {t} in list({v}):
    if {v}[{t}].sum() > <pyfloat>:
        {v}[{t}] = <vec>
{v}["a"] = {v}.get("z", <vec>)
# dict
""",
    """
{w} = {{}}
for {t} in range(3):
    {w}[f"k{{{t}}}"] = <vec> * {t}
    {w}[f"k{{{t}}}"] += <scalar>
{v} = sum({w}.values())
# vec
""",
    """
{v} = <vec> * 1
{v}[1:] += <vec>[:-1]
if <flag>:
    {v}[::2] = <scalar>
    {v}[0] *= 2
{v}[<vec> > 0] = <pyfloat>
# buf
""",
    """
{v} = 0
for {t} in <vec>:
    {v} = {v} + {t} if {t} > 0 else {v} - 1
{v} = {v} + <scalar>
# scalar
""",
    """
{w} = 1
for {t} in range(3):
    if <flag>:
        {w} = {w} / 2
    elif {t} == 1:
        {w} = {w} + <scalar>
{v} = <vec> * {w}
# vec
""",
    """
{w} = True
for {t} in <list!>[:3]:
    {w} = {w} and {t}.sum() > <pyfloat>
{v} = <vec> if {w} else -<vec>
# vec
""",
    """
{v} = <vec>.astype("float16").astype("float64")
for {t} in range(2):
    {v} = {v} + <vec> if <flag> else {v}.astype("float64") * 0.5
{v} = {v}.astype("float32")
# vec
""",
    """
{w} = int(<int>) + float(<scalar>) + bool(<flag>)
{v} = <vec> + {w} * 0.5
# vec
""",
    """
def {w}(a, scale=<pyfloat>):
    def inner(b):
        return b * scale if b.sum() > 0 else a
    return inner
{v} = {w}(<vec>)(<vec>) + {w}(<vec>, scale=<scalar>)(<vec>)
# vec
""",
    """
{w} = set()
for {t} in range(3):
    if <pybool>:
        {w}.add({t} % 2)
{v} = <vec> * len({w})
# vec
""",
    """
{v}, {w} = <vec>, None
for {t} in <list!>[:3]:
    if {w} is not None and {w}.sum() > {t}.sum():
        {v} = {v} + {w}
    {w} = {t}
# vec
""",
    """
{v} = <vec>
for {t} in range(2):
    for {w} in range(3):
        if {v}.sum() > <pyfloat>:
            break
        {v} = {v} + 0.25 * {w}
    else:
        continue
    {v} = {v} * 0.5
    if <flag>:
        break
else:
    {v} = {v} - 1
# vec
""",
    """
{w} = []
for {t} in <vec>:
    if {t} > 0:
        {w}.append([{t}, {t} * 2])
    elif {w}:
        {w}[-1][0] = {w}[-1][0] + {t}
{v} = sum(([a + b for a, b in {w}]), <scalar>)
# scalar
""",
    """
{w} = iter(<list!>)
{v} = next({w}, <vec>)
for {t} in {w}:
    {v} = {v} + {t} * 0.5
# vec
""",
    """
{v} = <vec>
{t} = {v}
{v} += <scalar>
{t} = {t} * 2 if <flag> else {v}
{v} = {v} + {t}
# vec
""",
    """
{w} = [<vec>]
while {w} and len({w}) < 4:
    {v} = {w}.pop()
    if {v}.sum() < <pyfloat>:
        {w}.append({v} + 0.5)
        {w}.append({v} * 0.5)
# vec
""",
    """
{w} = {{"n": 0, "v": <vec>, "xs": []}}
for {t} in range(3):
    if <flag>:
        {w}["n"] += 1
        {w}["xs"].append({w}["v"])
    {w}["v"] = {w}["v"] * 0.5
{v} = {w}["v"] * {w}["n"] + len({w}["xs"])
# vec
""",
    """
{w} = ((<vec>, <scalar>), [<vec>, (<scalar>, <pyint>)])
for {t} in range(2):
    (a, b), [c, (d, e)] = {w}
    {w} = ((a + d, b * 0.5), [c - b, (d * 0.5, e + 1)]) if <flag> else ((c, d), [a, (b, e)])
{v} = {w}[0][0] + {w}[1][1][1]
# vec
""",
)


@rule("nested", 6.0, wide=True)
def everyday(writer: Writer, scope: Scope, depth: int) -> str | None:
    """One of the fragments, with random expressions in its holes."""
    number = writer.random.randrange(len(FRAGMENTS))
    names = {"v": writer.fresh("r"), "t": writer.fresh("q"), "w": writer.fresh("o")}
    text = writer.fill(FRAGMENTS[number].format(**names).strip("\n"), scope, 1)
    if text is None:
        return None
    writer.used[f"everyday:{number}"] += 1
    *code, kept = text.split("\n")
    for line in code:
        writer.line(line)
    scope.add(kept.removeprefix("# "), names["v"])
    return ""
