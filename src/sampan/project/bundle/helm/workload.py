"""The operator's Deployment as a template: fields that values replace, and lists that values extend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.project.bundle.helm.references import ReferenceRewriter
from sampan.project.bundle.helm.template import AT, BELOW, Expression, Lines, When, depends, literal

POD_FIELDS: Final[Mapping[str, str]] = {
    "imagePullSecrets": "imagePullSecrets",
    "nodeSelector": "nodeSelector",
    "tolerations": "tolerations",
    "affinity": "affinity",
    "priorityClassName": "priorityClassName",
    "topologySpreadConstraints": "topologySpreadConstraints",
    "securityContext": "podSecurityContext",
}
"""Fields of the Pod that a value replaces: the field, and the value."""
CONTAINER_FIELDS: Final[Mapping[str, str]] = {"resources": "resources", "securityContext": "securityContext"}
WATCH: Final = "--namespaces"
_BEFORE_WATCH: Final = "--log-format="
"""Flag of the manifests before that one."""
LEASE: Final = "--leader-election-id"
METRICS: Final = "--metrics-bind-address"
HOOKS: Final = "--webhook-configurations"
CONVERSIONS: Final = "--webhook-conversions"


@dataclass(frozen=True, slots=True)
class ImageName:
    """Parts of an image's name."""

    repository: str
    tag: str
    digest: str

    @classmethod
    def parse(cls, text: str) -> "ImageName":
        """Return the parts. The text is `REPOSITORY[:TAG][@DIGEST]`."""
        name, _, digest = text.partition("@")
        folder, slash, last = name.rpartition("/")
        repository, _, tag = last.partition(":")
        return cls(folder + slash + repository, tag, digest)


def operator_container(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the container of the operator: the first one."""
    containers: Sequence[Mapping[str, Any]] = deployment["spec"]["template"]["spec"]["containers"]
    return containers[0]


def deployment_template(deployment: Mapping[str, Any], names: ReferenceRewriter) -> dict[str, Any]:
    """Return the template. `deployment` has the references of `names`."""
    spec = deployment["spec"]
    template = spec["template"]
    pod = _pod(template["spec"], names)
    metadata = {
        "labels": merged_lines(names.base, template["metadata"].get("labels", {}), "podLabels", "commonLabels"),
        "": annotation_lines(names.base, template["metadata"].get("annotations", {}), "podAnnotations"),
    }
    replicas = Expression("$.Values.replicas", quoted=False)
    return {**deployment, "spec": {**spec, "replicas": replicas, "template": {"metadata": metadata, "spec": pod}}}


def merged_lines(chart: str, own: Mapping[str, Any], *values: str) -> Lines:
    """Return the lines of a map: the entries of an object, then those of values, which do not replace them."""
    maps = " ".join([literal(own), *(f"$.Values.{each}" for each in values)])
    return Lines(f'{{{{- include "{chart}.merged" (list {maps}) | nindent {AT} }}}}')


def annotation_lines(chart: str, own: Mapping[str, Any], *values: str) -> Lines:
    """Return the lines of `annotations`, or none. Values replace those of the object."""
    maps = " ".join([*(f"$.Values.{each}" for each in (*values, "commonAnnotations")), literal(own)])
    condition = f'{{{{- with include "{chart}.merged" (list {maps}) }}}}'
    return Lines(f"{condition}\nannotations:\n  {{{{- . | nindent {BELOW} }}}}\n{{{{- end }}}}")


def _pod(pod: Mapping[str, Any], names: ReferenceRewriter) -> dict[str, Any]:
    first, *sidecars = pod["containers"]
    computed = {"containers", "volumes", *POD_FIELDS}
    return {
        **{key: value for key, value in pod.items() if key not in computed},
        "containers": [_container(first, names), *sidecars],
        "volumes": _extended(pod.get("volumes", []), "volumes"),
        **{key: _replaced(pod.get(key), value) for key, value in POD_FIELDS.items()},
    }


def _container(container: Mapping[str, Any], names: ReferenceRewriter) -> dict[str, Any]:
    dropped = {"image", "imagePullPolicy", "args", "env", "volumeMounts", *CONTAINER_FIELDS}
    result: dict[str, Any] = {"name": container["name"], "image": Expression(f'include "{names.base}.image" $')}
    result["imagePullPolicy"] = When("$.Values.image.pullPolicy", Expression("$.Values.image.pullPolicy", quoted=False))
    result |= {key: value for key, value in container.items() if key not in {*dropped, "name"}}
    result["args"] = _arguments(container.get("args", []), names)
    result["env"] = _environment(container.get("env", []))
    result["envFrom"] = _extended(container.get("envFrom", []), "envFrom")
    result["volumeMounts"] = _extended(container.get("volumeMounts", []), "volumeMounts")
    return result | {key: _replaced(container.get(key), value) for key, value in CONTAINER_FIELDS.items()}


def _arguments(own: Sequence[Any], names: ReferenceRewriter) -> list[Any]:
    """Return the arguments: those of the object, those that follow from values, and the user's, which prevail."""
    chart = names.base
    renamed = f'ne (include "{chart}.fullname" $) "{chart}"'
    watched = _flag('eq $.Values.rbac.scope "namespaced"', WATCH, f'{{{{ include "{chart}.namespaces" $ }}}}')
    place = next((index + 1 for index, each in enumerate(own) if str(each).startswith(_BEFORE_WATCH)), 0)
    arguments = [
        *own[:place],
        watched,
        *own[place:],
        _flag(renamed, LEASE, f'{{{{ include "{chart}.lease" $ }}}}'),
        _flag("not $.Values.metrics.enabled", METRICS, "0"),
    ]
    if names.hooks:
        other = f'and $.Values.webhooks.enabled (ne (include "{chart}.hooks" $) "{names.hooks}")'
        arguments += [
            _flag("not $.Values.webhooks.enabled", HOOKS, "0"),
            _flag(other, HOOKS, f'{{{{ include "{chart}.hooks" $ }}}}'),
        ]
    if names.converts:
        arguments.append(_flag("not $.Values.crds.enabled", CONVERSIONS, "false"))
    return [*arguments, _more("args")]


def _flag(condition: str, flag: str, value: str) -> Lines:
    return Lines(f"{{{{- if {condition} }}}}\n- {flag}={value}\n{{{{- end }}}}")


def _environment(own: Sequence[Mapping[str, Any]]) -> Any:
    """Return the variables. One of the values replaces the one of the same name, because names must be unique."""
    conditional = [When(f'not (has "{each["name"]}" $replaced)', each) for each in own]
    if not own:
        return When("$.Values.env", [_more("env")])
    each = "{{- range $.Values.env }}{{- $replaced = append $replaced .name }}{{- end }}"
    return [Lines(f"{{{{- $replaced := list }}}}{each}"), *conditional, _more("env")]


def _extended(own: Sequence[Any], value: str) -> Any:
    return [*own, _more(value)] if own else When(f"$.Values.{value}", [_more(value)])


def _more(value: str) -> Lines:
    return Lines(f"{{{{- with $.Values.{value} }}}}\n{{{{- toYaml . | nindent {AT} }}}}\n{{{{- end }}}}")


def _replaced(own: Any, value: str) -> When:
    """Return a field that is a value of the chart.

    If what the object has depends on the release, it cannot be a default of the values: it stays in the template, until
    the user sets the value.
    """
    given = When(f"$.Values.{value}", Lines(f"{{{{- toYaml $.Values.{value} | nindent {AT} }}}}"))
    return When(f'kindIs "invalid" $.Values.{value}', own, given) if depends(own) else given
