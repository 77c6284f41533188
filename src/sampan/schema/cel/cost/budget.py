"""`Budget`: remaining cost of evaluations."""

from dataclasses import dataclass

CALL_COST_MAX = 1_000_000
"""Cost limit of one evaluation of one expression: about a tenth of a second in Kubernetes."""
OBJECT_COST_MAX = 10_000_000
"""Cost limit of all expressions of one custom resource, or of one binding of an admission policy."""
REQUEST_SIZE_BYTES_MAX = 3 * 1024 * 1024
"""Request size that size estimates assume. Source: apiserver pkg/apis/cel/config.go (1.36)."""

OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
"""Error message when the cost budget of an object is exhausted."""


@dataclass(slots=True)
class Budget:
    """Remaining cost, shared by the evaluations of one object; `call_max` limits each of them."""

    remaining: int = OBJECT_COST_MAX
    call_max: int = CALL_COST_MAX
