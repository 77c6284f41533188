"""Resources that admission mechanisms with configuration leave out.

A plug-in covers every resource and subresource of `Plugin.resources`, except those that this table lists under its
name. `AdmissionChain` applies the table, so no plug-in checks it. An entry includes all versions and subresources.

- An invalid policy or webhook must not block its own correction: policies are not applied to policies, and webhooks
  are applied neither to webhooks nor to policies. Policies are applied to webhooks, so that a policy can restrict them.
- Reviews are not stored. Delegated authentication and authorization need them, so policies are not applied to them;
  webhooks are.

Source: apiserver pkg/admission/plugin/policy/generic/plugin.go, pkg/admission/plugin/webhook/predicates/rules/rules.go;
kubernetes pkg/kubeapiserver/admission/exclusion/resources.go (1.36).
"""

from typing import Final

_ADMISSION: Final = "admissionregistration.k8s.io"
_AUTHENTICATION: Final = "authentication.k8s.io"
_AUTHORIZATION: Final = "authorization.k8s.io"

Resources = frozenset[tuple[str, str]]
"""Pairs of group and resource."""

POLICIES: Final[Resources] = frozenset(
    {
        (_ADMISSION, "validatingadmissionpolicies"),
        (_ADMISSION, "validatingadmissionpolicybindings"),
        (_ADMISSION, "mutatingadmissionpolicies"),
        (_ADMISSION, "mutatingadmissionpolicybindings"),
    }
)
"""Resources that configure policies."""

WEBHOOKS: Final[Resources] = frozenset(
    {(_ADMISSION, "validatingwebhookconfigurations"), (_ADMISSION, "mutatingwebhookconfigurations")}
)
"""Resources that configure webhooks."""

REVIEWS: Final[Resources] = frozenset(
    {
        (_AUTHENTICATION, "selfsubjectreviews"),
        (_AUTHENTICATION, "tokenreviews"),
        (_AUTHORIZATION, "localsubjectaccessreviews"),
        (_AUTHORIZATION, "selfsubjectaccessreviews"),
        (_AUTHORIZATION, "selfsubjectrulesreviews"),
        (_AUTHORIZATION, "subjectaccessreviews"),
    }
)
"""Resources whose creation checks a token or a right."""

LEFT_OUT: Final[dict[str, Resources]] = {
    "MutatingAdmissionPolicy": POLICIES | REVIEWS,
    "MutatingAdmissionWebhook": POLICIES | WEBHOOKS,
    "ValidatingAdmissionPolicy": POLICIES | REVIEWS,
    "ValidatingAdmissionWebhook": POLICIES | WEBHOOKS,
}
"""Resources that a plug-in leaves out, by the plug-in's name."""

_NONE: Final[Resources] = frozenset()


def covers(plugin: str, resources: Resources | None, group: str, resource: str) -> bool:
    """Return True if a plug-in with `Plugin.resources` admits requests for a resource."""
    key = (group, resource)
    return (resources is None or key in resources) and key not in LEFT_OUT.get(plugin, _NONE)
