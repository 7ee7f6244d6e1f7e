"""Programs compiled ahead of time, for processes without Python."""
