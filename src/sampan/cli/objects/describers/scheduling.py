"""Rules that select nodes for Pods: node selectors, tolerations, spread constraints; taints and node affinity."""

from collections.abc import Iterator, Sequence

from sampan.cli.objects.describers.describer import labelled
from sampan.cli.objects.describers.values import labels, selector
from sampan.resource import Object


def tolerations(found: Sequence[Object] | None) -> list[str]:
    """Return a line for each toleration, sorted by key."""
    return [_toleration(each) for each in sorted(found or (), key=lambda each: str(each.get("key") or ""))]


def _toleration(found: Object) -> str:
    key, value, effect = found.get("key") or "", found.get("value") or "", found.get("effect") or ""
    text = key + (f"={value}" if value else "") + (f":{effect}" if effect else "")
    if found.get("operator") == "Exists" and not value:
        text += " op=Exists" if key or effect else "op=Exists"
    elif found.get("operator") in ("Lt", "Gt"):
        text += f" op={found['operator']}"
    seconds = found.get("tolerationSeconds")
    return text if seconds is None else f"{text} for {seconds}s"


def taints(found: Sequence[Object] | None) -> list[str]:
    """Return `key=value:effect` for each taint, sorted by effect and key."""
    lines = []
    for taint in sorted(found or (), key=lambda each: (each.get("effect", ""), each["key"])):
        value = f"={taint['value']}" if taint.get("value") else ""
        lines.append(f"{taint['key']}{value}:{taint.get('effect', '')}")
    return lines


def placement(spec: Object) -> Iterator[str]:
    """Yield the rows at the end of a Pod: node selectors, tolerations, spread constraints."""
    yield from labelled("Node-Selectors", labels(spec.get("nodeSelector")))
    yield from labelled("Tolerations", tolerations(spec.get("tolerations")))
    yield from spread_constraints(spec)


def spread_constraints(spec: Object, indent: str = "") -> Iterator[str]:
    """Yield the topology spread constraints; nothing without any."""
    lines = []
    for each in sorted(spec.get("topologySpreadConstraints") or (), key=lambda each: str(each["topologyKey"])):
        text = f"{each['topologyKey']}:{each['whenUnsatisfiable']} when max skew {each['maxSkew']} is exceeded"
        chosen = each.get("labelSelector")
        lines.append(text if chosen is None else f"{text} for selector {selector(chosen)}")
    if lines:
        yield from labelled("Topology Spread Constraints", lines, indent)


def node_affinity(affinity: Object | None) -> Iterator[str]:
    """Yield the node affinity of a volume."""
    required = (affinity or {}).get("required")
    if not required:
        yield "Node Affinity:\t<none>"
        return
    yield "Node Affinity:\t"
    terms = required.get("nodeSelectorTerms") or ()
    yield "  Required Terms:\t" + ("" if terms else "<none>")
    for number, term in enumerate(terms):
        lines = [_requirement(each) for each in term.get("matchExpressions") or ()]
        yield from labelled(f"Term {number}", lines, "    ")


def _requirement(found: Object) -> str:
    values = found.get("values")
    text = f"{found['key']} {found['operator'].lower()}"
    return f"{text} [{', '.join(values)}]" if values else text
