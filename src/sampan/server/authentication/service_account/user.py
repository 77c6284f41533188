"""User names and groups of service accounts. Source: apiserver pkg/authentication/serviceaccount/util.go (1.36)."""

from dataclasses import dataclass

from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.server.authentication.client_certificate import CREDENTIAL_ID
from sampan.server.request import UserInfo

PREFIX = "system:serviceaccount:"
ALL_GROUP = "system:serviceaccounts"
ISSUED_CREDENTIAL_ID = "authentication.kubernetes.io/issued-credential-id"
_POD_NAME, _POD_UID = "authentication.kubernetes.io/pod-name", "authentication.kubernetes.io/pod-uid"
NODE_NAME, _NODE_UID = "authentication.kubernetes.io/node-name", "authentication.kubernetes.io/node-uid"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Object to which a token is bound."""

    name: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class ServiceAccountInfo:
    """Service account, and the objects to which its token is bound."""

    namespace: str
    name: str
    uid: str
    pod: ObjectRef | None = None
    node: ObjectRef | None = None
    credential_id: str = ""

    def user(self) -> UserInfo:
        """Return the user that requests with the token have, with the Pod, the node and the token in `extra`."""
        extra: dict[str, tuple[str, ...]] = {}
        if self.credential_id:
            extra[CREDENTIAL_ID] = (self.credential_id,)
        if self.pod is not None and self.pod.name and self.pod.uid:
            extra[_POD_NAME], extra[_POD_UID] = (self.pod.name,), (self.pod.uid,)
        if self.node is not None and self.node.name:
            extra[NODE_NAME] = (self.node.name,)
            if self.node.uid:
                extra[_NODE_UID] = (self.node.uid,)
        return UserInfo(make_username(self.namespace, self.name), self.uid, group_names(self.namespace), extra)


def make_username(namespace: str, name: str) -> str:
    """Return the user name of a service account."""
    return f"{PREFIX}{namespace}:{name}"


def group_names(namespace: str) -> tuple[str, ...]:
    """Return the groups of a namespace's service accounts."""
    return ALL_GROUP, f"{ALL_GROUP}:{namespace}"


def split_username(username: str) -> tuple[str, str] | None:
    """Return namespace and name, or None if this is not the user name of a service account."""
    parts = username.removeprefix(PREFIX).split(":")
    if not username.startswith(PREFIX) or len(parts) != 2:
        return None
    namespace, name = parts
    return None if dns1123_label_errors(namespace) or dns1123_subdomain_errors(name) else (namespace, name)


def credential_id_of(jti: str) -> str:
    """Return the id of the token with this `jti` in audit events."""
    return f"JTI={jti}" if jti else ""
