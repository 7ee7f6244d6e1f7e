"""What people write all the time, as whole fragments: accumulators, best-of, searches, flags, growing lists."""

from __future__ import annotations

from .grammar import Scope, Writer, rule

# `{v}` and `{t}` are new names; the last line says what lives on: kind and name.
FRAGMENTS = (
    """
{v} = 0.0
for {t} in <vec>:
    {v} = {v} + {t} * 0.5
# scalar
""",
    """
{v} = 0
for {t} in range(3):
    if <flag>:
        {v} += 1
# pyint
""",
    """
{v} = None
for {t} in [<vec>, <vec>]:
    if {v} is None or {t}.sum() > {v}.sum():
        {v} = {t}
# vec
""",
    """
{v} = []
for {t} in <vec>:
    if {t} > <pyfloat>:
        {v}.append({t} * <vec>)
{v}.append(<vec>)
# list
""",
    """
{v} = [<vec>]
for {t} in range(3):
    if <flag>:
        {v}.append({v}[-1] * 0.5 + <vec>)
# list
""",
    """
{t} = False
{v} = <vec>
while not {t}:
    {v} = {v} * 0.5
    {t} = {v}.abs().sum() < 0.5
# vec
""",
    """
{v} = -1
for {t} in range(3):
    if <vec>[{t}] > <pyfloat>:
        {v} = {t}
        break
else:
    {v} = 3
# pyint
""",
    """
{v}, {t} = <vec>, <vec>
for _ in range(2):
    {v}, {t} = {t}, paddle.tanh({v} + {t})
# vec
""",
    """
{v} = {{}}
for {t} in ("a", "b", "c"):
    {v}[{t}] = <vec>
    if <flag>:
        {v}[{t}] = {v}[{t}] * 2
# dict
""",
    """
{v} = <scalar>
{t} = 0
while {v}.abs() > 0.2 and {t} < 6:
    {v} = {v} / 2 + <pyfloat> * 0.01
    {t} += 1
# scalar
""",
    """
{v} = paddle.zeros_like(<vec>)
for {t} in range(1, 3):
    {v}[{t}] = {v}[{t} - 1] * 0.5 + <scalar>
# vec
""",
    """
{v} = <scalar>
for {t} in [<pyfloat>, <scalar>, <pyint>]:
    {v} = {v} * 0.5 + {t}
# scalar
""",
    """
with paddle.no_grad():
    {t} = <scalar>
{v} = <vec> * 0.5 + {t} if {t} > 0 else <vec>
# vec
""",
    """
{v} = recursive(<vec>, 3)
# vec
""",
)


@rule("nested", 3.5)
def idiom(writer: Writer, scope: Scope, depth: int) -> str | None:
    """One of the fragments, with random expressions in its holes."""
    number = writer.random.randrange(len(FRAGMENTS))
    names = {"v": writer.fresh("r"), "t": writer.fresh("q")}
    text = writer.fill(FRAGMENTS[number].format(**names).strip("\n"), scope, 1)
    if text is None:
        return None
    writer.used[f"idiom:{number}"] += 1
    *code, kept = text.split("\n")
    for line in code:
        writer.line(line)
    scope.add(kept.removeprefix("# "), names["v"])
    return ""
