"""Measurements of the commands on projects."""
