"""Servers and etcds under faults: what clients saw is held against what was committed."""
