"""Rules of which features a table of a parameter server keeps; where there is one process, nobody asks them."""

from __future__ import annotations

from ..core.errors import ArgumentError


class _Entry:
    """A rule, as the text that a parameter server reads."""

    def __init__(self, name: str, *values: object) -> None:
        self._text = ":".join(map(str, (name, *values)))

    def _to_attr(self) -> str:
        return self._text


class CountFilterEntry(_Entry):
    """Features that came at least so often. Source: paddle.distributed.CountFilterEntry.

    Raises ArgumentError for what is no number of times.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.CountFilterEntry(10)._to_attr()
        'count_filter_entry:10'
    """

    def __init__(self, count_filter: int) -> None:
        if not isinstance(count_filter, int) or count_filter < 0:
            raise ArgumentError(f"CountFilterEntry: count_filter must be an int >= 0, got {count_filter!r}")
        super().__init__("count_filter_entry", count_filter)


class ProbabilityEntry(_Entry):
    """Features that a draw of this probability takes in. Source: paddle.distributed.ProbabilityEntry.

    Raises ArgumentError for what does not lie between 0 and 1.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.ProbabilityEntry(0.1)._to_attr()
        'probability_entry:0.1'
    """

    def __init__(self, probability: float) -> None:
        if not isinstance(probability, float) or not 0 < probability < 1:
            raise ArgumentError(f"ProbabilityEntry: probability must be a float in (0, 1), got {probability!r}")
        super().__init__("probability_entry", probability)


class ShowClickEntry(_Entry):
    """Features by how often they were shown and clicked, which the slots of these names say.

    Raises ArgumentError for names that are no texts. Source: paddle.distributed.ShowClickEntry.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.ShowClickEntry("show", "click")._to_attr()
        'show_click_entry:show:click'
    """

    def __init__(self, show_name: str, click_name: str) -> None:
        if not isinstance(show_name, str) or not isinstance(click_name, str):
            raise ArgumentError(f"ShowClickEntry: names must be texts, got {show_name!r} and {click_name!r}")
        super().__init__("show_click_entry", show_name, click_name)


__all__ = ["CountFilterEntry", "ProbabilityEntry", "ShowClickEntry"]
