"""Settings that keep a node with a container runtime healthy. Names and meanings are the kubelet's."""

from dataclasses import dataclass

from sampan.core.settings import setting
from sampan.core.settings.kinds import DURATION, integer
from sampan.node.garbage.images import ImagePolicy

_PERCENT = integer(0, 100, metavar="PERCENT")


@dataclass(frozen=True, slots=True)
class GarbageSettings:
    """Settings of image garbage collection."""

    image_gc_high_threshold: int = setting(
        85, "Use of the images' disk from which unused images are removed. 100: never remove any.", kind=_PERCENT
    )
    image_gc_low_threshold: int = setting(
        80, "Use of the images' disk down to which unused images are removed.", kind=_PERCENT
    )
    minimum_image_ttl_duration_s: float = setting(120.0, "Time for which a new image is kept.", kind=DURATION)
    image_maximum_gc_age_s: float = setting(
        0.0, "Time after which an unused image is removed in any case; 0: no limit.", kind=DURATION
    )

    def policy(self) -> ImagePolicy:
        """Return the limits. Raises `ValueError`."""
        policy = ImagePolicy(
            self.image_gc_high_threshold,
            self.image_gc_low_threshold,
            self.minimum_image_ttl_duration_s,
            self.image_maximum_gc_age_s,
        )
        policy.check()
        return policy
