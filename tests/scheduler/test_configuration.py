"""Tests of reading a KubeSchedulerConfiguration."""

from typing import Any

import pytest

from sampan.scheduler.configuration import DEFAULT_PLUGINS, read_configuration
from sampan.scheduler.queue.scheduling_queue import PodBackoff


def profile(plugins: dict[str, Any]) -> Any:
    return read_configuration({"profiles": [{"plugins": plugins}]}).profiles[0]


def test_an_empty_configuration_has_the_default_profile() -> None:
    (only,) = read_configuration({}).profiles
    assert only.scheduler_name == "default-scheduler"
    assert only.plugins == DEFAULT_PLUGINS


def test_a_plugin_can_be_disabled_at_all_points() -> None:
    found = profile({"multiPoint": {"disabled": [{"name": "ImageLocality"}]}})
    assert set(DEFAULT_PLUGINS) - set(found.plugins) == {"ImageLocality"}


def test_all_plugins_can_be_disabled_and_some_enabled() -> None:
    enabled = [{"name": "DefaultBinder"}, {"name": "NodeResourcesFit", "weight": 7}]
    found = profile({"multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled}})
    assert found.plugins == {"DefaultBinder": 0, "NodeResourcesFit": 7}


def test_a_plugin_can_be_disabled_at_one_point() -> None:
    found = profile({"filter": {"disabled": [{"name": "NodeResourcesFit"}]}})
    assert found.off == {"filter": {"NodeResourcesFit"}}
    assert "NodeResourcesFit" in found.plugins


def test_weights_can_be_changed() -> None:
    found = profile({"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeAffinity", "weight": 5}]}})
    assert found.plugins["NodeAffinity"] == 5
    assert found.off["score"] == set(DEFAULT_PLUGINS) - {"NodeAffinity"}


def test_backoff_and_extenders_are_read() -> None:
    extender = {
        "urlPrefix": "http://127.0.0.1:8888/scheduler",
        "filterVerb": "filter",
        "httpTimeout": "250ms",
        "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/nic"}],
    }
    found = read_configuration({"podInitialBackoffSeconds": 2, "podMaxBackoffSeconds": 20, "extenders": [extender]})
    assert found.backoff == PodBackoff(2.0, 20.0)
    assert found.extenders[0].timeout_s == 0.25
    assert found.extenders[0].managed_resources == {"example.com/gpu", "example.com/nic"}
    assert found.extenders[0].ignored_resources == {"example.com/gpu"}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another kind": ({"kind": "Pod"}, "KubeSchedulerConfiguration"),
    "one name twice": ({"profiles": [{}, {}]}, "schedulerName"),
    "no such point": ({"profiles": [{"plugins": {"sort": {}}}]}, "extension point"),
    "no address": ({"extenders": [{"filterVerb": "filter"}]}, "urlPrefix"),
}


@pytest.mark.parametrize(("document", "text"), WRONG.values(), ids=WRONG)
def test_an_invalid_configuration_is_rejected(document: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        read_configuration(document)
