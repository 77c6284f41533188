"""The attach-detach controller: makes and deletes the VolumeAttachments of CSI volumes, as Pods need them."""

from sampan.controllers.attach_detach.set_up import set_up

__all__ = ["set_up"]
