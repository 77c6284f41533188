"""Files of a chart that are not made of objects: helpers, notes, and the file of values."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sampan.project.bundle.helm.references import ReferenceRewriter
from sampan.project.bundle.helm.values import Value
from sampan.wire.yaml import encode

_NAME_MAX: Final = 63
_HELPERS: Final = """\
{{/* Written by sampan bundle: do not change the templates, but values, a patch or a parent chart. */}}
{{/* First part of all names. */}}
{{- define "CHART.fullname" -}}
{{- $name := default "CHART" .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc LENGTH | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc LENGTH | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc LENGTH | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Name of an object: list of the root and the end of the name. */}}
{{- define "CHART.name" -}}
{{- include "CHART.fullname" (index . 0) }}{{ index . 1 -}}
{{- end -}}

{{/* Name of an object without a namespace. With scope namespaced, other namespaces may have other releases. */}}
{{- define "CHART.clusterName" -}}
{{- $root := index . 0 -}}
{{- include "CHART.fullname" $root }}{{ index . 1 -}}
{{- if and (eq $root.Values.rbac.scope "namespaced") (ne $root.Release.Namespace "HOME") -}}
-{{ $root.Release.Namespace }}
{{- end -}}
{{- end -}}

{{/* Name of the webhook configurations, which the operator keeps up to date. */}}
{{- define "CHART.hooks" -}}
{{- $name := include "CHART.clusterName" (list . "") -}}
{{- if eq $name "CHART" }}HOOKS{{ else }}{{ $name }}{{ end -}}
{{- end -}}

{{/* Name of the Lease. Releases in one namespace must not share it: only one of them would reconcile. */}}
{{- define "CHART.lease" -}}
{{- $name := include "CHART.fullname" . -}}
{{- if eq $name "CHART" }}LEASE{{ else }}{{ $name }}{{ end -}}
{{- end -}}

{{- define "CHART.serviceAccountName" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "CHART.fullname" . -}}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{- define "CHART.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default TAG $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Watched namespaces of the scope namespaced, with commas. */}}
{{- define "CHART.namespaces" -}}
{{- join "," (default (list .Release.Namespace) .Values.rbac.watchNamespaces) -}}
{{- end -}}

{{/* One map of several; the first prevails. Nothing if it is empty. */}}
{{- define "CHART.merged" -}}
{{- $merged := dict -}}
{{- range . }}{{ $merged = merge $merged (default dict .) }}{{ end -}}
{{- if $merged }}{{ toYaml $merged }}{{ end -}}
{{- end -}}
"""
_NOTES: Final = """\
{{ .Release.Name }} runs {{ .Chart.Name }} {{ .Chart.AppVersion }} in the namespace {{ .Release.Namespace }}.

    kubectl rollout status deployment/{{ include "CHART.fullname" . }} -n {{ .Release.Namespace }}
KINDS
{{- if eq .Values.rbac.scope "namespaced" }}
It manages objects in these namespaces: {{ include "CHART.namespaces" . | replace "," ", " }}.
{{- end }}
{{- if and .Values.crds.enabled .Values.crds.keep }}
The CRDs and their objects remain after helm uninstall.
{{- end }}
{{- if not .Values.crds.enabled }}
This release does not install the CRDs. Without them, the operator does not start.
{{- end }}
{{- if not .Values.rbac.create }}
This release creates no roles. Without them, the operator does not start.
{{- end }}
"""
_HEADER: Final = """\
# Values of the chart, written by sampan bundle. Keep yours in another file, which you give to Helm:
#   helm upgrade --install RELEASE CHART --values my-values.yaml
"""


def helpers(names: ReferenceRewriter, longest: int, *, tagged: bool) -> str:
    """Return the named templates. `longest`: length of the longest end of a name; `tagged`: the tag is the version."""
    words = {
        "LENGTH": str(max(_NAME_MAX - longest, 1)),
        "TAG": ".Chart.AppVersion" if tagged else '"latest"',
        "HOME": names.namespace,
        "LEASE": names.lease,
        "HOOKS": names.hooks or names.base,
        "CHART": names.base,
    }
    return re.sub("|".join(words), lambda found: words[found[0]], _HELPERS)


def notes(chart: str, crds: Sequence[Mapping[str, Any]]) -> str:
    """Return what Helm prints after an installation."""
    kinds = "".join(
        f"    kubectl get {each['spec']['names']['plural']}.{each['spec']['group']}"
        f"{' --all-namespaces' if each['spec']['scope'] == 'Namespaced' else ''}\n"
        for each in crds
    )
    return _NOTES.replace("CHART", chart).replace("KINDS\n", kinds)


def values_file(values: Sequence[Value]) -> str:
    """Return the file values.yaml with a comment for each value."""
    lines, open_folders = [_HEADER.rstrip()], list[str]()
    for value in values:
        *folders, name = value.path.split(".")
        for depth, folder in enumerate(folders):
            if open_folders[: depth + 1] != folders[: depth + 1]:
                lines.append(f"{'  ' * depth}{folder}:")
                open_folders = folders[: depth + 1]
        open_folders = folders
        margin = "  " * len(folders)
        lines.append(f"{margin}# {value.text}")
        lines += [f"{margin}{line}" for line in _entry(name, value.default)]
    return "\n".join(lines) + "\n"


def _entry(name: str, default: Any) -> list[str]:
    if not default:
        return [f"{name}: {json.dumps(default)}"]
    return encode({name: default}).decode().rstrip("\n").split("\n")
