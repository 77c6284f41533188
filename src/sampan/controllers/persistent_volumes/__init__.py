"""The binder of PersistentVolumes: binds claims to volumes, and releases and reclaims volumes."""

from sampan.controllers.persistent_volumes.set_up import set_up

__all__ = ["set_up"]
