"""Expressions of admission: what they may use, and how they are compiled."""

from sampan.schema.cel.admission.environment import Expressions, Inputs, lazy_variables
from sampan.schema.cel.admission.patch_types import JSON_PATCH, OBJECT, name_mismatches

__all__ = ["JSON_PATCH", "OBJECT", "Expressions", "Inputs", "lazy_variables", "name_mismatches"]
