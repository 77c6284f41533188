"""Parts of a container's life that do not depend on the runtime.

Read `support.py` first: the interface for volumes, environment, probes and hooks. `process_support.py` implements it
for real processes.
"""
