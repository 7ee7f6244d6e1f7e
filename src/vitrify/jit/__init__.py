"""Segments: functions converted, traced, cached and run as programs."""
