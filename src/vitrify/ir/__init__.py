"""Programs: data, recording, text, serialization. Runs nothing."""
