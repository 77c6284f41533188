"""`kubectl delete`: which objects, how they go, and what stays until a controller has done its part."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, POD, config_map, documents

pytestmark = pytest.mark.e2e

FINALIZED = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: held
  finalizers: [example.com/hold]
"""

OWNED = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  ownerReferences:
  - {{apiVersion: v1, kind: ConfigMap, name: settings, uid: {uid}}}
"""


def test_delete_by_name_waits_until_it_is_gone(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl("delete", "cm", "settings") in {
        'configmap "settings" deleted',
        f'configmap "settings" deleted from {namespace} namespace',
    }
    assert kubectl.names("cm") == []


def test_delete_by_file(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=documents(CONFIG_MAP, POD))
    done = kubectl("delete", "-f", "-", stdin=documents(CONFIG_MAP, POD))
    assert [line.split(" deleted")[0] for line in done.splitlines()] == ['configmap "settings"', 'pod "web"']
    assert kubectl.names("cm,pods") == []


def test_delete_of_what_is_not_there(kubectl: Kubectl) -> None:
    assert kubectl.fails("delete", "cm", "nope") == 'Error from server (NotFound): configmaps "nope" not found'
    assert kubectl("delete", "cm", "nope", "--ignore-not-found") == ""


def test_delete_by_labels(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=documents(CONFIG_MAP, POD, config_map("other")))
    kubectl("delete", "cm,pods", "-l", "app=web")
    assert kubectl.names("cm,pods") == ["configmap/other"]


def test_delete_by_field(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=documents(CONFIG_MAP, config_map("other")))
    kubectl("delete", "cm", "--field-selector", "metadata.name!=other")
    assert kubectl.names("cm") == ["configmap/other"]


def test_delete_all_of_a_type(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=documents(CONFIG_MAP, POD, config_map("other")))
    assert len(kubectl("delete", "cm", "--all").splitlines()) == 2
    assert kubectl.names("cm,pods") == ["pod/web"]


def test_nothing_to_delete_is_reported(kubectl: Kubectl) -> None:
    assert kubectl("delete", "cm", "--all") == "No resources found"


def test_dry_run_of_the_server_deletes_nothing(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl("delete", "cm", "settings", "--dry-run=server").endswith("deleted (server dry run)")
    assert kubectl.names("cm") == ["configmap/settings"]


def test_a_finalizer_holds_the_object(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=FINALIZED)
    assert 'configmap "held" deleted' in kubectl("delete", "cm", "held", "--wait=false")
    metadata = kubectl.get("cm", "held")["metadata"]
    assert metadata["deletionTimestamp"]
    assert metadata["deletionGracePeriodSeconds"] == 0
    kubectl("patch", "cm", "held", "--type", "merge", "-p", '{"metadata":{"finalizers":null}}')
    assert kubectl.names("cm") == []


def test_waiting_for_a_finalizer_ends_with_its_removal(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=FINALIZED)
    with kubectl.started("delete", "cm", "held", "-v", "6") as deletion:
        deletion.logged("watch=true")
        kubectl("patch", "cm", "held", "--type", "json", "-p", '[{"op":"remove","path":"/metadata/finalizers"}]')
        assert deletion.finish()[0] == 0


def test_waiting_for_a_finalizer_has_a_limit(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=FINALIZED)
    message = kubectl.fails("delete", "cm", "held", "--timeout", "1s")
    assert message.endswith("error: timed out waiting for the condition on configmaps/held")


@pytest.mark.parametrize(
    ("cascade", "finalizers"),
    [
        pytest.param("foreground", ["foregroundDeletion"], id="foreground"),
        pytest.param("orphan", ["orphan"], id="orphan"),
    ],
)
def test_cascade_leaves_its_finalizer_to_the_garbage_collector(
    kubectl: Kubectl, cascade: str, finalizers: list[str]
) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    uid = kubectl.get("cm", "settings")["metadata"]["uid"]
    kubectl("create", "-f", "-", stdin=OWNED.format(uid=uid))
    kubectl("delete", "cm", "settings", f"--cascade={cascade}", "--wait=false")
    metadata = kubectl.get("cm", "settings")["metadata"]
    assert metadata["finalizers"] == finalizers
    assert metadata["deletionTimestamp"]


def test_background_cascade_deletes_at_once(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    kubectl("delete", "deployment", "web", "--cascade=background")
    assert kubectl.names("deployments") == []


@pytest.fixture
def scheduled(kubectl: Kubectl) -> Kubectl:
    """A namespace with a pod that is bound to a node, where no kubelet ends it."""
    kubectl("create", "-f", "-", stdin=POD.replace("spec:", "spec:\n  nodeName: somewhere"))
    return kubectl


def test_a_running_pod_has_its_grace_period(scheduled: Kubectl) -> None:
    scheduled("delete", "pod", "web", "--wait=false")
    metadata = scheduled.get("pod", "web")["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == 30
    assert scheduled("get", "pod", "web", "--no-headers").split()[2] == "Terminating"


def test_now_is_a_grace_period_of_a_second(scheduled: Kubectl) -> None:
    scheduled("delete", "pod", "web", "--now", "--wait=false")
    assert scheduled.get("pod", "web")["metadata"]["deletionGracePeriodSeconds"] == 1


def test_grace_period_can_be_given(scheduled: Kubectl) -> None:
    scheduled("delete", "pod", "web", "--grace-period", "7", "--wait=false")
    assert scheduled.get("pod", "web")["metadata"]["deletionGracePeriodSeconds"] == 7


def test_force_deletes_at_once(scheduled: Kubectl) -> None:
    done = scheduled.run("delete", "pod", "web", "--force")
    assert done.returncode == 0
    assert done.stdout.startswith('pod "web" force deleted')
    assert "Immediate deletion does not wait for confirmation" in done.stderr
    assert scheduled.names("pods") == []


def test_a_namespace_is_terminating_until_it_is_empty(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    kubectl("delete", "namespace", namespace, "--wait=false")
    found = kubectl.get("namespace", namespace)
    assert found["status"]["phase"] == "Terminating"
    assert found["spec"]["finalizers"] == ["kubernetes"]
    assert kubectl("get", "ns", namespace, "--no-headers").split()[1] == "Terminating"
    message = kubectl.fails("create", "-f", "-", stdin=config_map("late"))
    assert message == (
        f'Error from server (Forbidden): error when creating "STDIN": configmaps "late" is forbidden: '
        f"unable to create new content in namespace {namespace} because it is being terminated"
    )


def test_raw_delete_sends_to_a_path(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    response = kubectl("delete", "--raw", f"/api/v1/namespaces/{namespace}/configmaps/settings")
    assert '"status":"Success"' in response
    assert kubectl.names("cm") == []
