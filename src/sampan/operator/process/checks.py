"""`missing_parts`: what an operator lacks in its cluster, found out before the start.

A server without a CRD returns 404 to a list, and one without a role 403: an informer repeats its list and waits. The
checks name the kind, the verbs and the remedy in one line each.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sampan.client.client import Client
from sampan.client.errors import ApiError, ClientError, TransportError, Unauthorized
from sampan.core.gvk import GroupVersion, GroupVersionResource
from sampan.operator.rights import Right
from sampan.resource import ResourceInfo

SELF_REVIEWS: Final = ResourceInfo(
    GroupVersionResource("authorization.k8s.io", "v1", "selfsubjectaccessreviews"),
    "SelfSubjectAccessReview",
    namespaced=False,
)
_CONCURRENT_MAX: Final = 8


class NoConnection(Exception):
    """The server cannot be used at all. The text is one line with the cause."""


async def missing_parts(client: Client, kinds: Iterable[ResourceInfo], rights: Sequence[Right]) -> list[str]:
    """Return one line for each kind that the server does not serve, and one with all missing rights.

    Raises `NoConnection` if the server does not respond, or refuses the credentials.
    """
    try:
        found = await client.mapper.discovered()
    except Unauthorized as error:
        raise NoConnection(f"the server refuses the credentials of the configuration: {error}") from error
    except TransportError as error:
        raise NoConnection(f"cannot reach the server; is the kubeconfig right? {error}") from error
    except ApiError as error:
        return [f"cannot read which kinds the server serves: {error}"]
    served = {resource.gvr for resource in found.resources}
    lines = []
    for gvr in sorted({kind.gvr for kind in kinds} - served, key=str):
        if GroupVersion(gvr.group, gvr.version) not in found.failed:
            name = f"{gvr.resource}.{gvr.group}" if gvr.group else gvr.resource
            remedy = "apply its CRD" if "." in gvr.group else "enable its API"
            lines.append(f"the server does not serve {name} in {gvr.version}: {remedy}")
    refused = await _refused(client, rights)
    if refused:
        lines.append(f"this operator may not {_listed(refused)}: bind a role with these rights")
    return lines


def _listed(rights: Iterable[Right]) -> str:
    """Name the rights, with all verbs of a resource together: `list, watch boats in all namespaces; …`."""
    verbs: dict[str, list[str]] = {}
    for right in rights:
        verbs.setdefault(right.what, []).append(right.verb)
    return "; ".join(f"{', '.join(found)} {what}" for what, found in verbs.items())


async def _refused(client: Client, rights: Sequence[Right]) -> list[Right]:
    reviews = client.resource(SELF_REVIEWS)
    running = asyncio.Semaphore(_CONCURRENT_MAX)

    async def refused(right: Right) -> bool:
        review: dict[str, Any] = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "metadata": {},
            "spec": {"resourceAttributes": right.attributes},
        }
        async with running:
            try:
                status = (await reviews.create(review)).get("status") or {}
            except ClientError:
                return False  # The answer is unknown, and the request that needs the right reports its own error.
        return status.get("allowed") is not True

    results = await asyncio.gather(*map(refused, rights))
    return [right for right, no in zip(rights, results, strict=True) if no]
