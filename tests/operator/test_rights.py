"""Rights that the parts of an operator declare."""

from pathlib import Path

import pytest

from sampan.operator import Builder, BuildError, LeaderElectionConfig, ManagerOptions, NamespaceSelector, Request
from sampan.operator.rights import Right, rules_of
from sampan.operator.service_reference import ServiceReference
from sampan.operator.webhook import DirectoryStore, SecretStore, WebhookOptions, WebhookServer
from sampan.operator.webhook.certificates import CertificateFiles
from sampan.operator.webhook.certificates.issued import IssuedCertificates
from tests.operator.cluster import CONFIG_MAPS, SECRETS
from tests.operator.manager.frame import manager
from tests.operator.refs import NETWORKS


async def reconcile(request: Request) -> None:
    """Do nothing."""


def verbs_of(rights: list[Right], resource: str) -> set[str]:
    return {right.verb for right in rights if right.resource == resource}


async def test_a_kind_that_is_only_watched_needs_no_other_right() -> None:
    made = manager()
    Builder(made).for_(CONFIG_MAPS).complete(reconcile)
    assert made.rights() == [Right(verb, "", "configmaps", "") for verb in ("list", "watch")]


async def test_a_written_kind_is_read_from_the_server_after_a_refused_write() -> None:
    made = manager()
    Builder(made).for_(CONFIG_MAPS).writes(CONFIG_MAPS, "patch").writes(SECRETS, "delete").complete(reconcile)
    assert verbs_of(made.rights(), "configmaps") == {"get", "list", "patch", "watch"}
    assert verbs_of(made.rights(), "secrets") == {"delete"}


async def test_the_creator_of_owned_objects_may_block_the_deletion_of_their_owner() -> None:
    made = manager()
    Builder(made).for_(NETWORKS).owns(CONFIG_MAPS).writes(CONFIG_MAPS, "create").complete(reconcile)
    assert verbs_of(made.rights(), f"{NETWORKS.gvr.resource}/finalizers") == {"update"}
    other = manager()
    Builder(other).for_(NETWORKS).owns(CONFIG_MAPS).complete(reconcile)
    assert not verbs_of(other.rights(), f"{NETWORKS.gvr.resource}/finalizers")


@pytest.mark.parametrize("verb", ["*", "get", "escalate", ""])
async def test_only_verbs_that_write_can_be_declared(verb: str) -> None:
    with pytest.raises(BuildError, match="is no verb that writes"):
        Builder(manager()).writes(CONFIG_MAPS, verb)
    with pytest.raises(ValueError, match="is no verb that writes"):
        manager().declare_writes(CONFIG_MAPS, verb)


async def test_writes_are_in_the_namespaces_that_are_watched() -> None:
    made = manager(ManagerOptions(namespaces=["a", "b"]))
    made.declare_writes(CONFIG_MAPS, "create")
    assert made.rights() == [Right("create", "", "configmaps", place) for place in ("a", "b")]


async def test_selected_namespaces_are_unknown_before_the_run() -> None:
    made = manager(ManagerOptions(namespaces=NamespaceSelector("boats=yes")))
    made.informer_for(CONFIG_MAPS)
    assert Right("watch", "", "configmaps", "") in made.rights()
    assert not verbs_of(made.rights(selected=False), "configmaps")


async def test_a_candidate_may_change_only_its_lease() -> None:
    made = manager(ManagerOptions(leader_election=LeaderElectionConfig("boats", "harbour")))
    assert {(right.verb, right.name, right.namespace) for right in made.rights()} == {
        ("create", "", "harbour"),
        ("get", "boats", "harbour"),
        ("update", "boats", "harbour"),
    }


async def test_events_need_rights_only_with_a_recorder() -> None:
    made = manager()
    assert made.rights() == []
    made.event_recorder("boats")
    assert verbs_of(made.rights(), "events") == {"create", "patch"}


def test_rules_have_all_verbs_of_a_resource_and_its_name() -> None:
    rights = [
        Right("watch", "", "secrets", "a", "key"),
        Right("get", "", "secrets", "a", "key"),
        Right("get", "", "secrets", "a"),
    ]
    assert rules_of(rights) == [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["key"], "verbs": ["get", "watch"]},
    ]


def test_a_review_separates_the_subresource() -> None:
    right = Right("patch", "example.com", "boats/status", "a", "ada")
    assert right.attributes == {
        "verb": "patch",
        "group": "example.com",
        "resource": "boats",
        "subresource": "status",
        "namespace": "a",
        "name": "ada",
    }
    assert right.what == "boats.example.com/status ada in namespace a"


async def test_the_service_of_the_flags_places_webhooks_and_their_certificate(tmp_path: Path) -> None:
    service = ServiceReference("harbour", "boats-webhook")
    server = WebhookServer(manager(ManagerOptions(webhook_service=service)), DirectoryStore(tmp_path))
    assert server.options.service == service
    assert isinstance(server.certificates, IssuedCertificates)
    assert isinstance(server.certificates.store, SecretStore)
    assert {(right.resource, right.name) for right in server.rights()} == {("secrets", "boats-webhook")}
    [secret] = server.installed()
    assert "data" not in secret


async def test_the_service_of_the_code_wins(tmp_path: Path) -> None:
    options = WebhookOptions(service=ServiceReference("net", "own"))
    made = manager(ManagerOptions(webhook_service=ServiceReference("harbour", "boats-webhook")))
    server = WebhookServer(made, DirectoryStore(tmp_path), options)
    assert server.options.service == options.service
    assert not server.rights()


async def test_the_directory_of_the_flags_has_the_certificate(tmp_path: Path) -> None:
    server = WebhookServer(manager(ManagerOptions(webhook_cert_path=tmp_path)), DirectoryStore(tmp_path / "other"))
    assert isinstance(server.certificates, CertificateFiles)
    assert not server.rights()
