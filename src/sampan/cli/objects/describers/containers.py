"""Containers of a Pod or of a Pod template."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sampan.cli.objects.describers.describer import DescriptionRow, at, labelled, lines_of
from sampan.cli.objects.describers.values import resource_lines, time
from sampan.core.numbers.quantity import canonical, parse
from sampan.resource import Object

_FIELD = "    "
_ITEM = "      "
EnvironmentValue = Callable[[str], str]
"""Function that returns the value of a Pod's field for an environment variable."""

_STATES: Mapping[str, Sequence[DescriptionRow]] = {
    "running": (DescriptionRow("Started", "startedAt", time),),
    "waiting": (DescriptionRow("Reason", "reason"),),
    "terminated": (
        DescriptionRow("Reason", "reason"),
        DescriptionRow("Message", "message"),
        DescriptionRow("Exit Code", "exitCode", default="0"),
        DescriptionRow("Signal", "signal"),
        DescriptionRow("Started", "startedAt", time),
        DescriptionRow("Finished", "finishedAt", time),
    ),
}
_SECCOMP = (
    DescriptionRow("SeccompProfile", "securityContext.seccompProfile.type"),
    DescriptionRow("LocalhostProfile", "securityContext.seccompProfile.localhostProfile"),
)
_PROBES = (("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"), ("Startup", "startupProbe"))


def container_lines(
    title: str,
    containers: Sequence[Object] | None,
    *,
    statuses: Iterable[Object] | None = None,
    field_value: EnvironmentValue = lambda path: "",
    indent: str = "",
) -> Iterator[str]:
    """Yield the containers below a title. In a template (with an indent) there are no statuses."""
    by_name = {status["name"]: status for status in statuses or ()}
    yield f"{indent}{title}:" + ("" if containers else " <none>")
    for container in containers or ():
        status = by_name.get(container["name"])
        yield f"  {' ' if indent else ''}{container['name']}:"
        yield from _basics(container, status)
        yield from _words("Command", container.get("command"))
        yield from _words("Args", container.get("args"))
        if status is not None:
            yield from _state_lines(status)
        yield from resources(container.get("resources") or {}, _FIELD)
        for label, name in _PROBES:
            if name in container:
                yield f"{_FIELD}{label}:\t{probe(container[name])}"
        yield from _environment_sources(container)
        yield from _environment(container, field_value)
        yield from _mounts(container)


def resources(spec: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Yield limits and requests."""
    for label, name in (("Limits", "limits"), ("Requests", "requests")):
        if spec.get(name):
            yield f"{indent}{label}:"
            yield from resource_lines(spec[name], indent + "  ")


def _basics(container: Object, status: Object | None) -> Iterator[str]:
    if status is not None:
        yield f"{_FIELD}Container ID:\t{status.get('containerID', '')}"
    yield f"{_FIELD}Image:\t{container.get('image', '')}"
    if status is not None:
        yield f"{_FIELD}Image ID:\t{status.get('imageID', '')}"
    ports = container.get("ports") or ()
    for label, name in (("Port", "containerPort"), ("Host Port", "hostPort")):
        text = ", ".join(f"{port.get(name, 0)}/{port.get('protocol', 'TCP')}" for port in ports)
        yield f"{_FIELD}{label}{'s' if len(ports) > 1 else ''}:\t{text or '<none>'}"
    yield from lines_of(_SECCOMP, container, _FIELD)


def _words(label: str, words: Sequence[str] | None) -> Iterator[str]:
    if words:
        yield f"{_FIELD}{label}:"
        for word in words:
            yield from (_ITEM + line.replace("\t", "    ") for line in word.split("\n"))


def _state_lines(status: Object) -> Iterator[str]:
    yield from _one_state("State", status.get("state") or {})
    if at(status, "lastState.terminated") is not None:
        yield from _one_state("Last State", status["lastState"])
    yield f"{_FIELD}Ready:\t{bool(status.get('ready'))}"
    yield f"{_FIELD}Restart Count:\t{status.get('restartCount', 0)}"


def _one_state(label: str, state: Object) -> Iterator[str]:
    name = next((each for each in _STATES if state.get(each) is not None), "waiting")
    yield f"{_FIELD}{label}:\t{name.capitalize()}"
    yield from lines_of(_STATES[name], state.get(name) or {}, _ITEM)


def probe(spec: Object) -> str:
    """Return a probe on one line: its action and its times."""
    numbers = (
        f"delay={spec.get('initialDelaySeconds', 0)}s timeout={spec.get('timeoutSeconds', 1)}s "
        f"period={spec.get('periodSeconds', 10)}s successThreshold={spec.get('successThreshold', 1)} "
        f"failureThreshold={spec.get('failureThreshold', 3)}"
    )
    return f"{_action(spec)} {numbers}"


def _action(spec: Object) -> str:
    if "exec" in spec:
        return f"exec [{' '.join(at(spec, 'exec.command') or ())}]".replace("\n", " ").replace("\t", " ")
    if "httpGet" in spec:
        get = spec["httpGet"]
        scheme, path = get.get("scheme", "HTTP").lower(), get.get("path", "")
        return f"http-get {scheme}://{get.get('host', '')}:{get.get('port', '')}{path}"
    if "tcpSocket" in spec:
        return f"tcp-socket {spec['tcpSocket'].get('host', '')}:{spec['tcpSocket'].get('port', '')}"
    if "grpc" in spec:
        return f"grpc <pod>:{spec['grpc'].get('port')} {spec['grpc'].get('service') or ''}"
    return "unknown"


def _environment_sources(container: Object) -> Iterator[str]:
    sources = container.get("envFrom")
    if not sources:
        return
    yield f"{_FIELD}Environment Variables from:"
    for source in sources:
        name, kind = ("configMapRef", "ConfigMap") if "configMapRef" in source else ("secretRef", "Secret")
        prefix = f" with prefix '{source['prefix']}'" if source.get("prefix") else ""
        reference = source.get(name) or {}
        yield f"{_ITEM}{reference.get('name', '')}\t{kind}{prefix}\tOptional: {_optional(reference)}"


def _environment(container: Object, field_value: EnvironmentValue) -> Iterator[str]:
    variables = container.get("env")
    yield f"{_FIELD}Environment:" + ("" if variables else "\t<none>")
    for variable in variables or ():
        source = variable.get("valueFrom")
        if source:
            value = [_environment_reference(container, source, field_value)]
        else:
            value = (variable.get("value") or "").replace("\t", "    ").split("\n")
        yield from labelled(variable["name"], value, _ITEM)


def _environment_reference(container: Object, source: Object, field_value: EnvironmentValue) -> str:
    if "fieldRef" in source:
        path = source["fieldRef"].get("fieldPath", "")
        return f"{field_value(path)} ({source['fieldRef'].get('apiVersion', 'v1')}:{path})"
    if "resourceFieldRef" in source:
        resource = source["resourceFieldRef"].get("resource", "")
        return f"{_resource_value(container, source['resourceFieldRef'])} ({resource})"
    if "secretKeyRef" in source:
        key = source["secretKeyRef"]
        return f"<set to the key '{key['key']}' in secret '{key.get('name', '')}'>\tOptional: {_optional(key)}"
    if "configMapKeyRef" in source:
        key = source["configMapKeyRef"]
        return f"<set to the key '{key['key']}' of config map '{key.get('name', '')}'>\tOptional: {_optional(key)}"
    return ""


def _resource_value(container: Object, reference: Object) -> str:
    """Return an amount of the container's resources in units of the divisor, rounded up."""
    kind, _, name = reference.get("resource", "").partition(".")
    spec = at(container, f"resources.{kind}") or {}
    if name not in spec:
        return "node allocatable" if kind == "limits" and name in ("cpu", "memory") else "0"
    scale = -3 if name == "cpu" else 0
    divisor = parse(canonical(reference.get("divisor") or 0)).scaled_value(scale)
    return str(-(-parse(canonical(spec[name])).scaled_value(scale) // (divisor or 10**-scale)))


def _optional(reference: Object) -> str:
    return str(bool(reference.get("optional"))).lower()


def _mounts(container: Object) -> Iterator[str]:
    mounts = sorted(container.get("volumeMounts") or (), key=lambda mount: mount["mountPath"])
    yield f"{_FIELD}Mounts:" + ("" if mounts else "\t<none>")
    for mount in mounts:
        flags = "ro" if mount.get("readOnly") else "rw"
        if mount.get("subPath"):
            flags += f',path="{mount["subPath"]}"'
        yield f"{_ITEM}{mount['mountPath']} from {mount['name']} ({flags})"
    devices = sorted(container.get("volumeDevices") or (), key=lambda device: device["devicePath"])
    if devices:
        yield f"{_FIELD}Devices:"
        yield from (f"{_ITEM}{device['devicePath']} from {device['name']}" for device in devices)
