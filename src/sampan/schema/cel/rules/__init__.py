"""Validation rules of schemas (`x-kubernetes-validations`).

`registration.py` validates the rules of a schema; `validation.py` validates objects by them.
"""
