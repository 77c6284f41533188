"""`ObjectTemplates`: the templates of a chart that are made of the operator's objects."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from sampan.project.bundle.helm.guards import FILES, MORE, guard_of
from sampan.project.bundle.helm.references import ReferenceRewriter
from sampan.project.bundle.helm.rights import bound_cluster_roles, scoped_pair
from sampan.project.bundle.helm.template import AT, Expression, Lines, When, to_template
from sampan.project.bundle.helm.workload import annotation_lines, deployment_template, merged_lines
from sampan.project.bundle.rule_scopes import split_rules
from sampan.resource import Object

_KEEP: Final = "helm.sh/resource-policy"


class ObjectTemplates:
    """Templates of all objects, grouped in files by their topic."""

    def __init__(self, names: ReferenceRewriter, objects: Sequence[Object]) -> None:
        self._names, self._objects = names, objects
        self._bound = bound_cluster_roles(objects)

    def files(self) -> dict[str, str]:
        """Return the templates by path."""
        texts: dict[str, str] = {}
        for obj in self._objects:
            path = self._path(obj)
            texts[path] = texts.get(path, "") + self._template(obj)
        return dict(sorted(texts.items()))

    def _path(self, obj: Object) -> str:
        if _is_crd(obj):
            return f"templates/crd-{obj['spec']['names']['plural']}.yaml"
        return f"templates/{FILES.get(obj['kind'], MORE)}.yaml"

    def _template(self, obj: Object) -> str:
        """Return the text of an object with its condition."""
        guard = guard_of(obj, self._objects)
        if obj["kind"] == "ClusterRole" and obj["metadata"]["name"] in self._bound:
            return self._in_scope(obj)
        return _guarded(guard, self._text(obj))

    def _text(self, obj: Object) -> str:
        kind = obj["kind"]
        node = self._with_metadata(self._names.rewritten(deepcopy(dict(obj))))
        if kind == "Deployment":
            node = deployment_template(node, self._names)
        elif kind == "PodDisruptionBudget":
            node = _budget(node)
        elif kind == "ServiceMonitor":
            node = _monitor(node)
        elif kind.endswith("WebhookConfiguration"):
            node = self._hooks(node)
        return to_template(node)

    def _with_metadata(self, obj: dict[str, Any]) -> dict[str, Any]:
        metadata = dict(obj["metadata"])
        labels, annotations = metadata.pop("labels", {}), metadata.pop("annotations", {})
        chart, kind = self._names.base, obj["kind"]
        metadata["labels"] = merged_lines(chart, labels, "commonLabels")
        if not labels:
            metadata["labels"] = When("$.Values.commonLabels", metadata["labels"])
        if kind == "ServiceMonitor":
            metadata["labels"] = merged_lines(chart, labels, "metrics.serviceMonitor.labels", "commonLabels")
        if _is_crd(obj):
            metadata[""] = _crd_annotations(chart, annotations)
        elif kind == "ServiceAccount":
            metadata[""] = annotation_lines(chart, annotations, "serviceAccount.annotations")
        else:
            metadata[""] = annotation_lines(chart, annotations)
        return {**{key: obj[key] for key in ("apiVersion", "kind")}, "metadata": metadata, **_rest(obj)}

    def _in_scope(self, role: Object) -> str:
        """Return a bound ClusterRole; with scope `namespaced`, its rules for namespaces move into Roles."""
        crds = [each for each in self._objects if _is_crd(each)]
        namespaced, clusterwide = split_rules(role["rules"], crds)
        name = role["metadata"]["name"]
        labels = merged_lines(self._names.base, self._label_texts(role), "commonLabels")
        subjects = next(self._names.rewritten(each)["subjects"] for each in self._objects if _binds(each, name))
        pair = scoped_pair(name, self._rewritten_rules(role, namespaced), subjects, self._names, labels)
        whole = self._text(role)
        rest = self._text({**role, "rules": clusterwide}) if clusterwide else ""
        watched = f'{{{{- range $watched := splitList "," (include "{self._names.base}.namespaces" $) }}}}'
        each = "".join(f"---\n{to_template(obj)}" for obj in pair)
        each = each.replace("$.Values.", "$.Values.")
        return (
            '{{- if and $.Values.rbac.create (eq $.Values.rbac.scope "cluster") }}\n---\n' + whole + "{{- end }}\n"
            '{{- if and $.Values.rbac.create (eq $.Values.rbac.scope "namespaced") }}\n'
            + (f"---\n{rest}" if rest else "")
            + f"{watched}\n{each}{{{{- end }}}}\n{{{{- end }}}}\n"
        )

    def _label_texts(self, obj: Object) -> Any:
        return self._names.rewritten(obj)["metadata"].get("labels", {})

    def _rewritten_rules(self, role: Object, rules: list[Any]) -> Any:
        return self._names.rewritten({**role, "rules": rules})["rules"]

    def _hooks(self, obj: dict[str, Any]) -> dict[str, Any]:
        """Limit webhooks without a selector to the watched namespaces, as the operator does for `--namespaces`."""
        names = f'{{{{- include "{self._names.base}.namespaces" $ | splitList "," | toYaml | nindent {AT} }}}}'
        watched = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": Lines(names)}
        hooks = []
        for hook in obj["webhooks"]:
            if hook.get("namespaceSelector"):
                hooks.append(hook)
            else:
                selector = When('eq $.Values.rbac.scope "namespaced"', {"matchExpressions": [watched]})
                hooks.append({"name": hook["name"], **_without(hook, "name"), "namespaceSelector": selector})
        return {**obj, "webhooks": hooks}


def _budget(obj: dict[str, Any]) -> dict[str, Any]:
    spec = _without(obj["spec"], "minAvailable", "maxUnavailable")
    least, most = (f"$.Values.podDisruptionBudget.{each}" for each in ("minAvailable", "maxUnavailable"))
    unset = 'kindIs "invalid"'
    chosen = {
        "minAvailable": When(f"not ({unset} {least})", Expression(f"{least} | toYaml", quoted=False)),
        "maxUnavailable": When(
            f"and ({unset} {least}) (not ({unset} {most}))", Expression(f"{most} | toYaml", quoted=False)
        ),
    }
    return {**obj, "spec": {**spec, **chosen}}


def _monitor(obj: dict[str, Any]) -> dict[str, Any]:
    interval = "$.Values.metrics.serviceMonitor.interval"
    chosen = {"interval": When(interval, Expression(interval))}
    return {**obj, "spec": {**obj["spec"], "endpoints": [{**each, **chosen} for each in obj["spec"]["endpoints"]]}}


def _crd_annotations(chart: str, own: Mapping[str, Any]) -> Lines:
    """Return the annotations of a CRD. The policy prevents that an uninstallation deletes all objects of the kind."""
    lines = annotation_lines(chart, own).text
    keep = f'(ternary (dict "{_KEEP}" "keep") dict $.Values.crds.keep)'
    return Lines(lines.replace("$.Values.commonAnnotations", f"{keep} $.Values.commonAnnotations", 1))


def _guarded(guard: str, text: str) -> str:
    return f"{{{{- if {guard} }}}}\n---\n{text}{{{{- end }}}}\n" if guard else f"---\n{text}"


def _binds(obj: Object, role: str) -> bool:
    return bool(obj["kind"] == "ClusterRoleBinding" and obj["roleRef"]["name"] == role)


def _is_crd(obj: Object) -> bool:
    return bool(obj["kind"] == "CustomResourceDefinition")


def _rest(obj: Object) -> dict[str, Any]:
    return _without(obj, "apiVersion", "kind", "metadata")


def _without(obj: Object, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key not in keys}
