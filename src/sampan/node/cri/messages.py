"""Messages and enumerations of CRI, by their names in `api.proto`.

from sampan.node.cri.messages import message, value
config = message("PodSandboxConfig")(log_directory="/var/log/pods/x")
value("SANDBOX_READY")      # 0
"""

from typing import Final

from sampan.rpc.proto_files import AnyMessage, ProtoFiles

__all__ = ["FILES", "AnyMessage", "message", "value"]

FILES: Final = ProtoFiles("sampan.node.cri", "api/runtime_v1.binpb")
message = FILES.message
value = FILES.value
