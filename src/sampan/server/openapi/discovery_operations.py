"""Operations of paths outside resources: discovery, the version, and the issuer of service account tokens.

Source: apiserver pkg/endpoints/discovery, pkg/server/routes/{version,openidmetadata}.go (1.36).
"""

from collections.abc import Iterable, Iterator

from sampan.server.openapi.operations import JSON_TYPES, META, Operation, PathItem, base_path, identifier, tag_of

_VERSION = "io.k8s.apimachinery.pkg.version.Info"
_JSON = ("application/json",)


def server_items() -> Iterator[PathItem]:
    """Yield the paths of the server itself."""
    yield _item("/api/", "getCoreAPIVersions", "core", f"{META}.APIVersions")
    yield _item("/apis/", "getAPIVersions", "apis", f"{META}.APIGroupList")
    yield _item("/version/", "getCodeVersion", "version", _VERSION, consumes=_JSON, produces=_JSON)
    yield _item(
        "/.well-known/openid-configuration/",
        "getServiceAccountIssuerOpenIDConfiguration",
        "WellKnown",
        "",
        produces=_JSON,
    )
    yield _item(
        "/openid/v1/jwks/",
        "getServiceAccountIssuerOpenIDKeyset",
        "openid",
        "",
        produces=("application/jwk-set+json",),
    )


def group_items(groups: Iterable[str]) -> Iterator[PathItem]:
    """Yield the discovery path of each API group; the core group has none."""
    for group in groups:
        if group:
            yield _item(f"/apis/{group}/", f"get{identifier(group)}APIGroup", tag_of(group), f"{META}.APIGroup")


def version_item(group: str, version: str) -> PathItem:
    """Return the discovery path of a group version."""
    operation_id = f"get{identifier(group, version)}APIResources"
    return _item(f"{base_path(group, version)}/", operation_id, tag_of(group, version), f"{META}.APIResourceList")


def _item(
    path: str,
    operation_id: str,
    tag: str,
    response: str,
    *,
    consumes: tuple[str, ...] = (),
    produces: tuple[str, ...] = JSON_TYPES,
) -> PathItem:
    takes = consumes or (JSON_TYPES if produces is JSON_TYPES else ())
    text = f"read {path.strip('/')}"
    return PathItem(
        path,
        [Operation("get", operation_id, "", text, None, response, consumes=takes, produces=produces)],
        tag=tag,
    )
