"""Example of the README: a CRD from 2018, an object of its kind, and kubectl commands."""

from pathlib import Path

import pytest
import yaml

from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

FOLDER = Path(__file__).parents[2] / "examples" / "networks"
CRD = "customresourcedefinition.apiextensions.k8s.io/networks.samplecrd.k8s.io"


def test_the_example_works_from_beginning_to_end(kubectl: Kubectl) -> None:
    crd, network = str(FOLDER / "crd.yaml"), str(FOLDER / "network.yaml")
    done = kubectl.run("apply", "-f", crd)
    assert (done.returncode, done.stdout) == (0, f"{CRD} created\n")
    assert "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated" in done.stderr

    assert kubectl("apply", "-f", network) == "network.samplecrd.k8s.io/example-network created"
    header, row = kubectl("get", "networks").splitlines()
    assert header.split() == ["NAME", "AGE"]
    assert row.split()[0] == "example-network"
    found = kubectl.get("network", "example-network")
    assert found["spec"] == yaml.safe_load(Path(network).read_text())["spec"]
    assert (found["kind"], found["apiVersion"]) == ("Network", "samplecrd.k8s.io/v1")

    text = kubectl("explain", "networks")
    assert text.splitlines()[:3] == ["GROUP:      samplecrd.k8s.io", "KIND:       Network", "VERSION:    v1"]
    described = kubectl("describe", "network", "example-network")
    assert "Cidr:     192.168.0.0/16" in described
    assert "Gateway:  192.168.0.1" in described

    assert kubectl("apply", "-f", network) == "network.samplecrd.k8s.io/example-network unchanged"
    assert kubectl("apply", "-f", crd) == f"{CRD} unchanged"
    changed = Path(network).read_text().replace("192.168.0.1", "192.168.0.254")
    assert kubectl.apply(changed) == "network.samplecrd.k8s.io/example-network configured"
    assert kubectl.get("networks", "example-network")["spec"]["gateway"] == "192.168.0.254"

    assert 'network.samplecrd.k8s.io "example-network" deleted' in kubectl("delete", "-f", network)
    assert '"networks.samplecrd.k8s.io" deleted' in kubectl("delete", "-f", crd)
    assert "could not find the requested resource" in kubectl.fails("get", "networks")
