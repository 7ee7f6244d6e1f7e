"""Which PaddlePaddle's public names these are, for code that asks whether they are new enough."""

FULL_VERSION = "3.3.1"
