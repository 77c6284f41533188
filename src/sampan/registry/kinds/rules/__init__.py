"""Checks that many kinds share."""
