"""Repeated checks of the metadata when an object is updated.

Every update is checked once by the rules of all objects. Most kinds then repeat the check with their rules, and each
failed check adds a cause to the Status.
Source: kubernetes pkg/apis/*/validation, pkg/registry/*/*/strategy.go ValidateUpdate (1.36).
"""

from enum import Enum, auto
from typing import Final, NamedTuple


class Check(Enum):
    """Checks that a kind repeats."""

    OBJECT = auto()
    """Rules of a new object, with the kind's rule for names."""
    UPDATE = auto()
    """Immutable fields, labels, annotations and owners."""


class MetadataChecks(NamedTuple):
    """Checks of a kind in their order."""

    main: tuple[Check, ...] = (Check.UPDATE,)
    status: tuple[Check, ...] = (Check.UPDATE,)
    """Checks of /status, and of the /finalize of namespaces."""

    def of(self, subresource: str) -> tuple[Check, ...]:
        """Return the checks of an update of a subresource (empty: of the object itself)."""
        return self.status if subresource in ("status", "finalize") else self.main


MOST: Final = MetadataChecks()
"""Checks of most kinds, and of custom resources."""

UPDATE_OBJECT: Final = MetadataChecks((Check.UPDATE, Check.OBJECT))
OBJECT_UPDATE: Final = MetadataChecks((Check.OBJECT, Check.UPDATE))
OBJECT_ONLY: Final = MetadataChecks((Check.OBJECT,), ())
NO_CHECKS: Final = MetadataChecks((), ())
