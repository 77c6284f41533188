"""Configurations of webhooks that a manifest creates, after the operator has started."""

import asyncio

import pytest

from sampan.client import json_path, wait_for
from sampan.operator.webhook import CaBundleInjector, HookKind, IssuedCertificates
from sampan.operator.webhook.targets import ManagedConfiguration
from sampan.resource import Object
from sampan.testing import Cluster
from tests.operator.webhook.frame import FixedClock, MemoryCertificates

VALIDATING: Object = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "boats"},
    "webhooks": [
        {
            "name": "boats.example.com",
            "clientConfig": {"service": {"name": "boats", "namespace": "default"}},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
        }
    ],
}


async def may_not_create(cluster: Cluster) -> None:
    """Give the operator all rights on the configuration except its creation."""
    rule = {
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": ["validatingwebhookconfigurations"],
        "verbs": ["get", "list", "watch", "update", "patch"],
    }
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "boats"}}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "boats"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "boats"}
    await cluster.create({**role, "rules": [rule]})
    await cluster.create({**role, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]})


async def test_a_configuration_that_comes_later_gets_the_bundle_at_once_and_causes_no_warning(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sampan.webhook")
    await may_not_create(cluster)
    source = IssuedCertificates(MemoryCertificates(), ("boats.default.svc",), FixedClock())
    await source.refresh()
    target = ManagedConfiguration(HookKind.VALIDATING, VALIDATING)
    task = asyncio.create_task(CaBundleInjector(cluster.client("boats"), source, [target]).run())
    await asyncio.sleep(100)  # the delay between attempts is a minute now
    resource = cluster.admin().resource(HookKind.VALIDATING.info)
    await resource.create(VALIDATING)
    await wait_for(resource, "boats", json_path(".webhooks[0].clientConfig.caBundle"), timeout_s=5)
    task.cancel()
    await asyncio.wait({task})
    lines = [each.getMessage() for each in caplog.records if each.name == "sampan.webhook"]
    absent = "ValidatingWebhookConfiguration boats is absent, and the operator may not create it: waiting for it"
    assert lines.count(absent) == 1
    assert not [each for each in caplog.records if each.name == "sampan.webhook" and each.levelname == "WARNING"]
