"""Ctrl-C that comes while vitrify works, and that the user's program catches."""


def may_be_caught() -> None:
    """Let a KeyboardInterrupt on its way out end the process only if nobody catches it.

    CPython takes one that leaves `exec` of a text for uncaught, and lets the process die of SIGINT in the end, whoever
    catches it afterwards. dataclasses makes methods in that way when a module is imported, and modules are imported
    when they are first needed. The next text that runs takes the note back.
    """
    exec("")


def disable_signal_handler() -> None:
    """Nothing: vitrify handles no signals. Source: paddle.disable_signal_handler.

    Example:
        >>> import vitrify as paddle
        >>> paddle.disable_signal_handler()
    """


__all__ = ["disable_signal_handler", "may_be_caught"]
