"""CEL expressions of admission: their variables and types, and their compilation."""

from sampan.schema.cel.admission.environment import Expressions, Inputs, lazy_variables
from sampan.schema.cel.admission.patch_types import JSON_PATCH, OBJECT, name_mismatches

__all__ = ["JSON_PATCH", "OBJECT", "Expressions", "Inputs", "lazy_variables", "name_mismatches"]
