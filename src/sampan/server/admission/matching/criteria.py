"""`Criteria`: selectors and rules.

Source: apiserver pkg/admission/plugin/policy/matching/matching.go, pkg/admission/plugin/webhook/generic/webhook.go
(1.36).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sampan.core.object import Object
from sampan.core.selectors import Selector, selector_from_label_selector
from sampan.server.admission.matching.rule import RuleWithOperations
from sampan.server.admission.matching.subject import Equivalent, MatchedRequest


class Criteria:
    """Matching criteria of a webhook (`rules`), a policy or a binding (`resourceRules`, `excludeResourceRules`)."""

    __slots__ = ("_equivalent", "_excluded", "_namespaces", "_objects", "_rules")

    def __init__(self, match: Mapping[str, Any], rules: Sequence[Mapping[str, Any]] | None) -> None:
        """`rules` are those of a webhook. If None, the rules in `match` apply. If `match` has no rules, all requests
        match.
        """
        self._namespaces = selector_from_label_selector(match.get("namespaceSelector") or {})
        self._objects = selector_from_label_selector(match.get("objectSelector") or {})
        self._equivalent = match.get("matchPolicy", "Equivalent") == "Equivalent"
        self._excluded = [RuleWithOperations(rule) for rule in match.get("excludeResourceRules") or ()]
        self._rules: list[RuleWithOperations] | None
        if rules is None:
            self._rules = [RuleWithOperations(rule) for rule in match.get("resourceRules") or ()] or None
        else:
            self._rules = [RuleWithOperations(rule) for rule in rules]

    def match(self, subject: MatchedRequest) -> Equivalent | None:
        """Return the resource under which the request matches (it may be an equivalent one), or None. **Raises** 404 if
        the request's namespace does not exist.
        """
        if not self._matches_object(subject):
            return None
        if self._excluded and self._match_rules(self._excluded, subject) is not None:
            return None
        found = subject.own if self._rules is None else self._match_rules(self._rules, subject)
        return found if found is not None and self._matches_namespace(subject) else None

    def _matches_namespace(self, subject: MatchedRequest) -> bool:
        if self._namespaces.empty or (not subject.namespace and subject.attributes.gvr.resource != "namespaces"):
            return True
        return self._namespaces.matches(subject.namespace_labels())

    def _matches_object(self, subject: MatchedRequest) -> bool:
        if self._objects.empty:
            return True
        attributes = subject.attributes
        return _selects(self._objects, attributes.obj) or _selects(self._objects, attributes.old)

    def _match_rules(self, rules: Sequence[RuleWithOperations], subject: MatchedRequest) -> Equivalent | None:
        attributes, namespace = subject.attributes, subject.namespace
        operation, subresource, name = attributes.operation, attributes.subresource, attributes.name
        for rule in rules:
            if rule.matches(operation, attributes.gvr, subresource, namespace) and rule.matches_name(name):
                return subject.own
        if not self._equivalent:
            return None
        others = subject.surroundings.equivalents(attributes)
        for rule in rules if others else ():
            for other in others:
                if rule.matches(operation, other.gvr, subresource, namespace) and rule.matches_name(name):
                    return other
        return None


def _selects(selector: Selector, obj: Object | None) -> bool:
    if obj is None:
        return False
    return selector.matches((obj.get("metadata") or {}).get("labels") or {})
