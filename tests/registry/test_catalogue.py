"""The built-in catalogue equals the resources of Kubernetes 1.36."""

import pytest

from sampan.core.gvk import GroupVersionKind
from sampan.registry.catalogue import builtin_definitions
from sampan.registry.definition import Column, ResourceDefinition
from sampan.registry.kind import Kind
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.registry.strategy import Strategy
from sampan.schema.builtin import Definitions

Catalogue = dict[tuple[str, str], ResourceDefinition]


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return {(item.group, item.resource): item for item in builtin_definitions(Definitions(), BUILTIN_KINDS)}


def test_every_served_version_of_every_resource_has_a_schema(catalogue: Catalogue) -> None:
    for definition in catalogue.values():
        for version in definition.versions.values():
            assert version.schema().type == "object", (definition.resource, version.name)


def test_beta_resources_are_left_out(catalogue: Catalogue) -> None:
    assert ("coordination.k8s.io", "leasecandidates") not in catalogue
    assert list(catalogue["resource.k8s.io", "resourceclaims"].versions) == ["v1"]


def test_the_preferred_version_is_stored(catalogue: Catalogue) -> None:
    autoscalers = catalogue["autoscaling", "horizontalpodautoscalers"]
    assert list(autoscalers.versions) == ["v2", "v1"]
    assert autoscalers.storage_version == "v2"


@pytest.mark.parametrize(
    ("group", "resource", "prefix"),
    [
        ("", "pods", "/registry/pods/"),
        ("apps", "deployments", "/registry/deployments/"),
        ("", "services", "/registry/services/specs/"),
        ("", "endpoints", "/registry/services/endpoints/"),
        ("", "nodes", "/registry/minions/"),
        ("", "replicationcontrollers", "/registry/controllers/"),
        ("networking.k8s.io", "ingresses", "/registry/ingress/"),
        (
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "/registry/apiextensions.k8s.io/customresourcedefinitions/",
        ),
        ("events.k8s.io", "events", "/registry/events/"),
    ],
)
def test_objects_live_where_kube_apiserver_keeps_them(
    catalogue: Catalogue, group: str, resource: str, prefix: str
) -> None:
    assert catalogue[group, resource].storage_prefix == prefix


def test_reviews_can_only_be_created(catalogue: Catalogue) -> None:
    for key in [("", "bindings"), ("authentication.k8s.io", "tokenreviews")]:
        assert catalogue[key].verbs == ("create",)


def test_deployments_have_status_and_scale(catalogue: Catalogue) -> None:
    version = catalogue["apps", "deployments"].versions["v1"]
    assert version.status
    assert version.scale is not None
    assert version.scale.spec_replicas == "spec.replicas"


def test_an_eviction_is_a_subresource_of_another_group(catalogue: Catalogue) -> None:
    eviction = catalogue["", "pods"].subresources["eviction"]
    assert eviction.kind == GroupVersionKind("policy", "v1", "Eviction")
    assert eviction.verbs == ("create",)


def test_old_cron_jobs_are_served_and_deprecated(catalogue: Catalogue) -> None:
    versions = catalogue["batch", "cronjobs"].versions
    assert list(versions) == ["v1", "v1beta1", "v2alpha1"]
    assert versions["v1beta1"].deprecated
    assert versions["v1beta1"].status


def test_old_definitions_of_custom_resources_keep_their_fields(catalogue: Catalogue) -> None:
    schema = catalogue["apiextensions.k8s.io", "customresourcedefinitions"].versions["v1beta1"].schema()
    spec = schema.properties["spec"].properties
    assert {"version", "validation", "preserveUnknownFields", "scope"} <= spec.keys()


def test_strategies_and_columns_reach_their_resource() -> None:
    strategy = Strategy()
    columns = (Column("Name", "string", lambda obj: obj["metadata"]["name"]),)
    made = builtin_definitions(Definitions(), [Kind("", "pods", strategy, columns=lambda ages: columns)])
    pods = next(item for item in made if item.resource == "pods")
    assert pods.strategy is strategy
    maker = pods.versions["v1"].columns
    assert maker is not None
    assert maker() == columns
