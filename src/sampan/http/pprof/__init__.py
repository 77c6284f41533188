"""Profiles of this process, and the responses below /debug/pprof: processor time, memory, stacks."""
