"""Schemas of CustomResourceDefinitions: from OpenAPI to `Schema` and back, and the rules that they must meet.

Read `structural_validation.py` first: it lists the checks in their order.
"""
