"""Validation rules that many kinds share."""
