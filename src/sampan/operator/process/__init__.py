"""The process of an operator: settings, log, secured metrics, traces, checks before the start.

Import `main`, `run` and `OperatorSettings` from `sampan.operator`. The modules of this folder load further packages, so
they are imported when a process starts.
"""
