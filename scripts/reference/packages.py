"""The public packages, their names in the order of the pages, and the anchors of these."""

from typing import Final

from scripts.reference.definitions import public_names

PACKAGES: Final = {
    "sampan.operator": "queues, controllers, the manager, the process of an operator",
    "sampan.operator.clusters": "one operator for several clusters",
    "sampan.operator.webhook": "admission, conversion and authentication webhooks, and their certificates",
    "sampan.client": "clients of any Kubernetes",
    "sampan.client.config": "kubeconfig files and credentials",
    "sampan.informer": "caches that follow the server",
    "sampan.resource": "kinds declared as Python classes, and their CRDs",
    "sampan.core.settings": "settings that become flags",
    "sampan.testing": "clusters in the process, virtual time, expectations",
    "sampan.testing.explore": "one fault at each moment of a scenario",
    "sampan.testing.faults": "faults of single requests",
    "sampan.testing.generated": "objects and campaigns from schemas",
    "sampan.test_server": "servers with an address, for tests in any language",
}
"""Public packages in the order of the index, with their contents."""


def names_in_order(package: str) -> list[str]:
    """Return the public names of a package as its page has them."""
    return sorted(public_names(package), key=str.lower)


def anchor_of(package: str, name: str) -> str:
    """Return the anchor of a name on the page of its package. Names may differ in letter case only."""
    same = [each for each in names_in_order(package) if each.lower() == name.lower()]
    number = same.index(name)
    return f"{name.lower()}-{number}" if number else name.lower()
