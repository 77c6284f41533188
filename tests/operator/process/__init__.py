"""The process of an operator: flags, log, metrics, traces, checks."""
