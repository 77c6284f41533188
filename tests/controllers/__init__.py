"""Tests of the built-in control loops, each against a server in this process."""
