"""The binder of PersistentVolumes: claims get volumes, volumes are released and reclaimed."""

from sampan.controllers.persistent_volumes.set_up import set_up

__all__ = ["set_up"]
