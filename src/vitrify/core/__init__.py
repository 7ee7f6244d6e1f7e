"""Ground level: dtypes, places, flags, errors, random numbers, names and caches; imports nothing of ours."""
