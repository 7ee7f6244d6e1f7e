"""What converted code writes: places, the journal that undoes and merges, and who else knows an object."""
