"""Resource quotas: compute the usage of each object. Used by admission and by the quota controller."""

from sampan.core.quota.evaluator import Evaluator, evaluator_for, object_count_name
from sampan.core.quota.scopes import scope_selectors
from sampan.core.quota.usage import Usage, add

__all__ = ["Evaluator", "Usage", "add", "evaluator_for", "object_count_name", "scope_selectors"]
