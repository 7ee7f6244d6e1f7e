"""Members of enumerations, and numbers and strings of the user's classes, that a tensor chooses, in loops too."""

from enum import Enum, IntEnum

from .functions import N, X


class Level(IntEnum):
    LOW = 1
    MID = 2
    HIGH = 3


class Name(str, Enum):
    UP = "up"
    DOWN = "down"

    def other(self):
        return Name.DOWN if self is Name.UP else Name.UP


class Degrees(float):
    def half(self):
        return Degrees(self / 2)


class Unit(Enum):
    M = "m"
    KM = "km"


def member(x):
    level = Level.LOW if x.sum() > 0 else Level.HIGH
    return level, level.name, isinstance(level, Level), level is Level.LOW, level > 2, level + 1, x * level


def member_as_a_number(x):
    level = Level.LOW if x.sum() > 0 else Level.MID
    turns = 0
    for k in range(level):
        turns += k + 1
    y = x + 0
    y[:level] = 7.0
    return turns, list(range(level)), int(level), float(level), x[level], x[:level], [1, 2, 3][level], y


def member_or_number(x):
    level = Level.LOW if x.sum() > 0 else 7
    return level, level * 2


def text_of_an_enumeration(x):
    name = Name.UP
    for v in x:
        if v > 0:
            name = name.other()
    return name, name == "up", name.value, {"up": 1, "down": 2}[name]


def number_of_a_class(x):
    angle = Degrees(90.0) if x.sum() > 0 else Degrees(45.0)
    return x * angle, angle.half() * 1.0, float(angle)


def exchanged_in_each_turn(x):
    name, level, unit = "a", Level.LOW, Unit.M
    while x.sum() < 10:
        name = "b" if name == "a" else "a"
        level = Level.MID if level is Level.LOW else Level.LOW
        unit = Unit.KM if unit is Unit.M else Unit.M
        x = x + 2
    return x, name, level, unit is Unit.KM


def exchanged_in_a_tuple_and_a_dict(x):
    state, found = ("a", 0, x), {"mode": "up", "v": x}
    while found["v"].sum() < 10:
        state = "b" if state[0] == "a" else "a", state[1] + 1, state[2] * 2
        found = {"mode": "down" if found["mode"] == "up" else "up", "v": found["v"] + 2}
    return state, found


def states_of_a_machine(x):
    unit, turns = Unit.M, 0
    while True:
        match unit:
            case Unit.M:
                x, unit = x + 3, Unit.KM
            case Unit.KM:
                turns += 1
                if x.sum() > 8:
                    break
                unit = Unit.M
    return x, turns, unit is Unit.KM


CASES = [
    (fn, [(X,), (N,), ([0.1, 0.2, 0.1],)])
    for fn in (
        member, member_as_a_number, member_or_number, text_of_an_enumeration, number_of_a_class, exchanged_in_each_turn,
        exchanged_in_a_tuple_and_a_dict, states_of_a_machine,
    )
]  # fmt: skip
