"""`kubectl kustomize`, `apply -k`, and `kubectl proxy`."""

import json
import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT

pytestmark = pytest.mark.e2e


@pytest.fixture
def overlay(tmp_path: Path) -> str:
    """A base and an overlay that prefixes names, sets the image and generates a config map."""
    base, over = tmp_path / "base", tmp_path / "over"
    base.mkdir()
    over.mkdir()
    (base / "deployment.yaml").write_text(DEPLOYMENT)
    (base / "kustomization.yaml").write_text("resources: [deployment.yaml]\n")
    (over / "kustomization.yaml").write_text(
        "namePrefix: my-\n"
        "resources: [../base]\n"
        "images: [{name: nginx, newTag: '9'}]\n"
        "configMapGenerator: [{name: made, literals: [a=b]}]\n"
    )
    return str(over)


def test_kustomize_prints(kubectl: Kubectl, overlay: str) -> None:
    text = kubectl("kustomize", overlay)
    assert "name: my-web" in text
    assert "image: nginx:9" in text


def test_apply_a_kustomization(kubectl: Kubectl, overlay: str) -> None:
    first = kubectl("apply", "-k", overlay).splitlines()
    assert re.fullmatch(r"configmap/my-made-\w+ created", first[0])
    assert first[1] == "deployment.apps/my-web created"
    assert kubectl("apply", "-k", overlay).splitlines()[1] == "deployment.apps/my-web unchanged"
    assert kubectl("diff", "-k", overlay) == ""
    kubectl("delete", "-k", overlay)
    assert kubectl.names("cm,deploy") == []


def test_proxy_passes_requests_on(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    with kubectl.started("proxy", "--port=0") as proxy:
        address = f"http://{proxy.line().removeprefix('Starting to serve on ')}"
        path = f"{address}/api/v1/namespaces/{namespace}/configmaps"
        with urllib.request.urlopen(f"{path}/settings", timeout=20) as response:
            assert json.load(response)["data"]["colour"] == "blue"
        with urllib.request.urlopen(f"{path}?watch=1&resourceVersion=0", timeout=20) as watch:
            assert json.loads(watch.readline())["type"] == "ADDED"
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{path}/nope", timeout=20)
        with caught.value as response:
            assert (response.code, json.load(response)["reason"]) == (404, "NotFound")
