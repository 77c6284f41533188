"""`kubectl run` and `kubectl expose`."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import DEPLOYMENT, POD

pytestmark = pytest.mark.e2e


def test_run_makes_a_pod(kubectl: Kubectl) -> None:
    done = kubectl("run", "one", "--image=busybox", "--env=A=1", "--labels=app=one", "--port=80", "--", "sleep", "9")
    assert done == "pod/one created"
    found = kubectl.get("pod", "one")
    (container,) = found["spec"]["containers"]
    assert (container["args"], container["env"]) == (["sleep", "9"], [{"name": "A", "value": "1"}])
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert found["metadata"]["labels"] == {"app": "one"}


def test_run_with_a_command_and_a_restart_policy(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=busybox", "--restart=Never", "--command", "--", "date")
    spec = kubectl.get("pod", "one")["spec"]
    assert (spec["restartPolicy"], spec["containers"][0]["command"]) == ("Never", ["date"])


def test_run_with_overrides(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=busybox", '--overrides={"spec":{"priority":0,"hostNetwork":true}}')
    assert kubectl.get("pod", "one")["spec"]["hostNetwork"] is True


def test_run_and_expose_makes_a_service_too(kubectl: Kubectl) -> None:
    done = kubectl("run", "one", "--image=nginx", "--port=80", "--expose")
    assert done.splitlines() == ["service/one created", "pod/one created"]
    spec = kubectl.get("svc", "one")["spec"]
    assert (spec["selector"], spec["ports"][0]["port"]) == ({"run": "one"}, 80)


def test_run_what_exists_is_an_error(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=busybox")
    message = kubectl.fails("run", "one", "--image=busybox")
    assert message == 'Error from server (AlreadyExists): pods "one" already exists'


def test_run_as_dry_run(kubectl: Kubectl) -> None:
    assert kubectl("run", "one", "--image=x", "--dry-run=server") == "pod/one created (server dry run)"
    assert kubectl.names("pods") == []


def test_expose_a_deployment(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    assert kubectl("expose", "deployment", "web") == "service/web exposed"
    spec = kubectl.get("svc", "web")["spec"]
    assert spec["selector"] == {"app": "web"}
    assert [(port["port"], port["targetPort"]) for port in spec["ports"]] == [(80, 80)]
    assert spec["clusterIP"].startswith("10.96.")


def test_expose_a_pod_under_another_name(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=POD)
    kubectl("expose", "pod", "web", "--port=81", "--target-port=http", "--name=front", "--type=NodePort")
    spec = kubectl.get("svc", "front")["spec"]
    assert (spec["type"], spec["selector"]) == ("NodePort", {"app": "web", "tier": "front"})
    assert spec["ports"][0]["targetPort"] == "http"


def test_expose_a_service_again(kubectl: Kubectl) -> None:
    kubectl("create", "service", "clusterip", "web", "--tcp=80:8080")
    kubectl("expose", "service", "web", "--port=443", "--target-port=8443", "--name=web-tls")
    spec = kubectl.get("svc", "web-tls")["spec"]
    assert (spec["selector"], spec["ports"][0]["port"]) == ({"app": "web"}, 443)


def test_expose_without_a_port_is_an_error(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=busybox")
    assert "couldn't find port via --port flag or introspection" in kubectl.fails("expose", "pod", "one")
