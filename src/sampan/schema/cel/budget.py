"""`Budget`: what evaluating may still cost."""

from dataclasses import dataclass

CALL_COST_MAX = 1_000_000
"""Of one evaluation of one expression: about a tenth of a second in Kubernetes."""
OBJECT_COST_MAX = 10_000_000
"""Of all expressions of one custom resource, or of one binding of an admission policy."""
REQUEST_SIZE_BYTES_MAX = 3 * 1024 * 1024
"""What size estimates assume of requests. Source: apiserver pkg/apis/cel/config.go (1.36)."""

OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
"""The text of the error when the budget of an object is spent."""


@dataclass(slots=True)
class Budget:
    """Costs still to be spent, shared by the evaluations of one object; `call_max` bounds each of them."""

    remaining: int = OBJECT_COST_MAX
    call_max: int = CALL_COST_MAX
