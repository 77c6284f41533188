"""Descriptions of objects for `sampan describe`: sections for many kinds, and one generic form for all other kinds.

The wording, the order and the data are those of `kubectl describe`. Source: kubectl pkg/describe/describe.go (1.36).
"""

from sampan.cli.objects.describers.catalogue import DESCRIBERS, describer_of, description
from sampan.cli.objects.describers.describer import DescribedObject, Describer, RelatedObjects

__all__ = ["DESCRIBERS", "DescribedObject", "Describer", "RelatedObjects", "describer_of", "description"]
