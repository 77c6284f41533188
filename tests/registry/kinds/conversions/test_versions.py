"""Conversion of objects whose versions differ only in the apiVersion."""

import pytest

from sampan.registry.kinds.builtin import BUILTIN_KINDS

HUBS = {
    ("autoscaling", "horizontalpodautoscalers", "v1"): "autoscaling/v2",
    ("events.k8s.io", "events", "v1"): "v1",
    ("apiextensions.k8s.io", "customresourcedefinitions", "v1beta1"): "apiextensions.k8s.io/v1",
    ("batch", "cronjobs", "v1beta1"): "batch/v1",
    ("batch", "cronjobs", "v2alpha1"): "batch/v1",
}


CONVERSIONS = {
    (kind.group, kind.resource, name): version.conversion
    for kind in BUILTIN_KINDS
    for name, version in kind.versions.items()
    if version.conversion is not None
}


def test_every_conversion_has_its_hub() -> None:
    assert CONVERSIONS.keys() == HUBS.keys()


@pytest.mark.parametrize("key", HUBS, ids="/".join)
def test_the_api_version_changes_both_ways(key: tuple[str, str, str]) -> None:
    conversion = CONVERSIONS[key]
    own = f"{key[0]}/{key[2]}"
    hub = conversion.to_hub({"apiVersion": own, "metadata": {}})
    assert hub["apiVersion"] == HUBS[key]
    assert conversion.from_hub(hub)["apiVersion"] == own
