"""Tests of CSI: names, capabilities, and the built-in sidecars on a real driver process."""
