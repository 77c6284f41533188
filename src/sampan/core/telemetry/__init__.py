"""Logs, metrics and traces of a process.

Read `log.py` for the records, `durations.py` for histograms, and `tracing.py` for spans; `otlp.py` exports spans.
"""
