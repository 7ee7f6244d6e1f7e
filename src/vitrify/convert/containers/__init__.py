"""Lists and dicts of converted code, whose length or keys a tensor may decide."""
