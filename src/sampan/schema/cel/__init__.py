"""CEL: compile and evaluate the expressions of validation rules, admission policies and claim mappings."""

from sampan.schema.cel.cost.budget import Budget
from sampan.schema.cel.environment import Environment, Program
from sampan.schema.cel.errors import (
    CelBudgetExceeded,
    CelCompileError,
    CelError,
    CelRuntimeError,
    CelSyntaxError,
    CelTypeError,
)
from sampan.schema.cel.types import CelType

__all__ = [
    "Budget",
    "CelBudgetExceeded",
    "CelCompileError",
    "CelError",
    "CelRuntimeError",
    "CelSyntaxError",
    "CelType",
    "CelTypeError",
    "Environment",
    "Program",
]
