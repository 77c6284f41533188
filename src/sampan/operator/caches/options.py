"""`CacheOptions`: the objects of a kind that a manager caches, and the parts of them.

    ManagerOptions(
        namespaces=["prod", "staging"],
        caches={Pod: CacheOptions(label_selector="app=boat"), Secret: CacheOptions(namespaces=["prod"])},
    )

Source: controller-runtime pkg/cache/cache.go `Options`, `ByObject` (0.24).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sampan.informer.transform import Transform
from sampan.operator.caches.selection import Selection


@dataclass(frozen=True, slots=True)
class NamespaceSelector:
    """The namespaces with matching labels, which come and go while the operator runs.

    When a namespace is created or gets the labels, its objects are added. When it is deleted or loses them, handlers
    get a deletion of each object. The operator needs the right to list and watch namespaces.
    """

    label_selector: str

    def __post_init__(self) -> None:
        """Raises `ValueError` for an invalid or empty selector."""
        if Selection.parse(self.label_selector, "") is None:
            raise ValueError("the selector matches all namespaces: leave the option out")


Namespaces = Sequence[str] | NamespaceSelector
"""Names of namespaces, or a selector; an empty list means all."""


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """Objects of one kind that are cached. Objects outside the selectors appear not to exist."""

    namespaces: Namespaces | None = None
    """None: the namespaces of the manager."""
    label_selector: str = ""
    field_selector: str = ""
    transform: Transform | None = None
    """Makes objects smaller before they are stored, see `strip_fields`.

    Objects that are read from the cache then lack fields. So `update`, which replaces a whole object, is refused for
    this kind: use a patch or an apply.
    """

    def __post_init__(self) -> None:
        """Raises `ValueError` for an invalid selector, or a list of names that is a string."""
        check_namespaces(self.namespaces)
        Selection.parse(self.label_selector, self.field_selector)


def check_namespaces(namespaces: Namespaces | None) -> None:
    """Raise `ValueError` if the option is a single name or contains an empty one."""
    if isinstance(namespaces, str):
        raise ValueError(f"namespaces must be a list of names, not {namespaces!r}")
    if namespaces is not None and not isinstance(namespaces, NamespaceSelector) and not all(namespaces):
        raise ValueError("a namespace has no name; an empty list means all namespaces")
