"""The Layer classes of `paddle.nn`, one file for each kind."""
