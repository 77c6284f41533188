"""ConfigMap kube-system/extension-apiserver-authentication: client CAs and header names for extension servers.

All API servers of a cluster, kube-apiservers among them, add their own CAs and names. Extension servers accept all of
them.
Source: kubernetes pkg/controlplane/controller/clusterauthenticationtrust (1.36).
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.strategy import Context
from sampan.registry.write.own import create, update

NAMESPACE = "kube-system"
NAME = "extension-apiserver-authentication"
_GRACE = timedelta(minutes=5)
"""Time for which an expired certificate is kept, because the clocks of other servers may be slow."""


async def publish_authentication(cluster: Cluster, data: Mapping[str, str]) -> None:
    """Create the ConfigMap with `data`, or add `data` to the existing one. Raises `StatusError`."""
    endpoint = cluster.endpoint("", "v1", "configmaps")
    assert endpoint is not None
    present = cluster.reader.get("", "configmaps", NAMESPACE, NAME)
    ctx = Context(user="system:apiserver", groups=("system:masters",), namespace=NAMESPACE, name=NAME)
    if present is None:
        obj: Object = {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": dict(data),
        }
        try:
            await create(endpoint.store, ctx, obj, cluster.clock)
            return
        except StatusError as error:
            if error.reason is not Reason.ALREADY_EXISTS:
                raise  # else another server created it first
    elif combined(present.get("data") or {}, data, cluster.clock.now()) == present.get("data"):
        return

    def edit(obj: Object, old: Object) -> None:
        obj["data"] = combined(obj.get("data") or {}, data, cluster.clock.now())

    await update(endpoint.store, ctx, edit, cluster.clock)


def combined(present: Mapping[str, str], own: Mapping[str, str], now: datetime) -> dict[str, str]:
    """Return the union of both data: each certificate and name once, without expired certificates."""
    return {**present, **{name: _both(present.get(name, ""), published, now) for name, published in own.items()}}


def _both(present: str, own: str, now: datetime) -> str:
    """Return the union of two values of one key, in the format of kube-apiserver. An unreadable `present` value is
    replaced.
    """
    try:
        if own.startswith("["):
            names = _once([*json.loads(present or "[]"), *json.loads(own)])
            return json.dumps(names, separators=(",", ":"))
        return "".join(_once(_certificates(present, now) + _certificates(own, now)))
    except (ValueError, TypeError):
        return own


def _certificates(pem: str, now: datetime) -> list[str]:
    """Return the certificates that have not expired. Raises `ValueError` if the text has none."""
    found = x509.load_pem_x509_certificates(pem.encode()) if pem else []
    return [each.public_bytes(Encoding.PEM).decode() for each in found if each.not_valid_after_utc + _GRACE > now]


def _once(found: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(found))
