"""Operations that connect a client to a node, Pod or Service: proxy, exec, attach, portforward, and the log of a Pod.

Source: apiserver pkg/endpoints/installer.go (CONNECT), core/v1 PodExecOptions and similar kinds (1.36).
"""

from collections.abc import Iterator

from sampan.core.gvk import GroupVersionKind
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.server.openapi.operations import (
    JSON_TYPES,
    PRETTY,
    Operation,
    Parameter,
    PathItem,
    base_path,
    object_parameters,
    operation_id,
)
from sampan.server.verbs.connect.subresources import CONNECTIONS

_ANY_METHOD = ("delete", "get", "head", "options", "patch", "post", "put")
_STREAM_METHODS = ("get", "post")
_CONTAINER = Parameter("container", "string", "Container of the Pod; may be left out if there is one.")
_STREAMS = (
    _CONTAINER,
    Parameter("stderr", "boolean", "Connect standard error."),
    Parameter("stdin", "boolean", "Connect standard input."),
    Parameter("stdout", "boolean", "Connect standard output."),
    Parameter("tty", "boolean", "Use a terminal."),
)
_COMMAND = Parameter("command", "string", "Command and its arguments, not run by a shell. May be repeated.")
_PATH = Parameter("path", "string", "URL path of the proxied request.")
_REST = Parameter("path", "string", "path to the resource", "path")
_LOG = (
    _CONTAINER,
    Parameter("follow", "boolean", "Follow the log."),
    Parameter("insecureSkipTLSVerifyBackend", "boolean", "Do not verify the serving certificate of the kubelet."),
    Parameter("limitBytes", "integer", "Bytes after which the log ends."),
    PRETTY,
    Parameter("previous", "boolean", "Log of the previous, terminated container."),
    Parameter("sinceSeconds", "integer", "Seconds before now at which the log begins."),
    Parameter("stream", "string", "Stream of the container: All, Stdout or Stderr."),
    Parameter("tailLines", "integer", "Number of lines from the end of the log."),
    Parameter("timestamps", "boolean", "Begin each line with its time."),
)
_OPTIONS = {
    "PodAttachOptions": _STREAMS,
    "PodExecOptions": (_COMMAND, *_STREAMS),
    "PodPortForwardOptions": (Parameter("ports", "integer", "Ports to forward; required for a WebSocket."),),
}
"""Parameters by kind of options; those of a proxy are `_PATH`."""


def connect_items(definition: ResourceDefinition, version: VersionDefinition) -> Iterator[PathItem]:
    """Yield the paths of a built-in resource's connecting subresources."""
    scope = "/namespaces/{namespace}" if definition.namespaced else ""
    root = f"{base_path(definition.group, version.name)}{scope}/{definition.resource}"
    for name in definition.subresources:
        if (definition.group, definition.resource, name) == ("", "pods", "log"):
            yield _log(definition, version, root)
        found = CONNECTIONS.get((definition.resource, name)) if not definition.group else None
        if found is None or not found.options_kind:
            continue
        kind = found.options_kind
        methods, options = (_ANY_METHOD, (_PATH,)) if found.any_method else (_STREAM_METHODS, _OPTIONS[kind])
        gvk = GroupVersionKind("", version.name, kind)
        shared = object_parameters(definition, kind)
        path = f"{root}/{{name}}/{name}"
        yield PathItem(path, _operations(definition, version, name, gvk, methods), (*options, *shared))
        if found.any_method:
            below = _operations(definition, version, name, gvk, methods, "WithPath")
            yield PathItem(f"{path}/{{path}}", below, (_REST, *shared, *options))


def _operations(
    definition: ResourceDefinition,
    version: VersionDefinition,
    subresource: str,
    gvk: GroupVersionKind,
    methods: tuple[str, ...],
    suffix: str = "",
) -> list[Operation]:
    own = subresource.capitalize()
    return [
        Operation(
            method,
            operation_id(definition, version, f"connect{{}}{method.capitalize()}", f"{own}{suffix}"),
            "connect",
            f"connect {method.upper()} requests to {subresource} of {definition.kind}",
            gvk,
            "",
            produces=("*/*",),
        )
        for method in methods
    ]


def _log(definition: ResourceDefinition, version: VersionDefinition, root: str) -> PathItem:
    gvk = GroupVersionKind("", version.name, definition.kind)
    operation = Operation(
        "get",
        operation_id(definition, version, "read{}", "Log"),
        "get",
        f"read log of the specified {definition.kind}",
        gvk,
        "",
        produces=("text/plain", *JSON_TYPES),
    )
    return PathItem(f"{root}/{{name}}/log", [operation], (*_LOG, *object_parameters(definition, definition.kind)))
