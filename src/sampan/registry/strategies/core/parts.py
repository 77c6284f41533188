"""Strategies of the subresources that are written as the object is: each changes one part of it.

They default as their object does, so that what a client leaves out is filled in here as well.
"""

from sampan.core.object import Object
from sampan.registry.strategies.core.base import Errors
from sampan.registry.strategies.core.namespace import NamespaceStrategy, prepare_finalize, validate_finalize_update
from sampan.registry.strategies.core.pod import PodStrategy
from sampan.registry.strategies.core.podsubresources import (
    prepare_ephemeral_containers,
    prepare_resize,
    validate_ephemeral_containers_update,
    validate_resize,
)
from sampan.registry.strategy import Context, Strategy


class EphemeralContainersStrategy(PodStrategy):
    """PUT/PATCH pods/NAME/ephemeralcontainers."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        prepare_ephemeral_containers(obj, old)

    def check_update(self, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_ephemeral_containers_update(obj, old))

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        return []


class ResizeStrategy(PodStrategy):
    """PUT/PATCH pods/NAME/resize."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        prepare_resize(obj, old)

    def check_update(self, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_resize(obj, old))

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        return []


class FinalizeStrategy(NamespaceStrategy):
    """PUT namespaces/NAME/finalize."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        prepare_finalize(obj, old)

    def check_update(self, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_finalize_update(obj, old))


PARTS: dict[tuple[str, str], Strategy] = {
    ("namespaces", "finalize"): FinalizeStrategy(),
    ("pods", "ephemeralcontainers"): EphemeralContainersStrategy(),
    ("pods", "resize"): ResizeStrategy(),
}
"""By resource and subresource, for the core group."""
