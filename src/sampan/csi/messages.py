"""Messages and enumerations of CSI v1 and of plug-in registration, by their names in the `.proto` files.

from sampan.csi.messages import message, value
message("VolumeCapability.AccessMode")(mode=value("SINGLE_NODE_WRITER"))
"""

from typing import Final

from sampan.rpc.proto_files import AnyMessage, ProtoFiles

__all__ = ["CSI", "REGISTRATION", "AnyMessage", "message", "value"]

CSI: Final = ProtoFiles("sampan.csi", "api/csi_v1.binpb")
REGISTRATION: Final = ProtoFiles("sampan.csi", "api/pluginregistration_v1.binpb")
message = CSI.message
value = CSI.value
