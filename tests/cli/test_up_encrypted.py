"""`sampan up` without the configuration that its store was encrypted with."""

import base64
import json
from pathlib import Path

import pytest

from tests.cli.server import NO_LOOPS, failing, running

SECRET = base64.b64encode(bytes(range(32))).decode()
CONFIG_MAP = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
READY = "/readyz"


@pytest.fixture
def encrypted(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A data directory with these resources encrypted."""
    providers = [{"aescbc": {"keys": [{"name": "k", "secret": SECRET}]}}, {"identity": {}}]
    rules = [{"resources": [request.param], "providers": providers}]
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration"}
    file = tmp_path / "encryption.json"
    file.write_text(json.dumps({**head, "resources": rules}))
    with running(tmp_path / "data", f"--encryption-provider-config={file}") as server:
        assert server.get(CONFIG_MAP, server.token)[0] == 200
    return tmp_path / "data"


@pytest.mark.parametrize("encrypted", ["configmaps"], indirect=True)
def test_encrypted_objects_are_500_without_keys_and_the_server_is_ready(encrypted: Path) -> None:
    encrypted.with_suffix(".log").unlink()
    with running(encrypted) as server:
        response = server.status(CONFIG_MAP, server.token)
        ready, _ = server.get(READY, server.token)
    assert (response["code"], ready) == (500, 200)
    assert response["message"].endswith("identity transformer tried to read encrypted data")
    assert "Traceback" not in encrypted.with_suffix(".log").read_text()


@pytest.mark.parametrize("encrypted", ["*.*"], indirect=True)
def test_a_store_that_cannot_be_begun_from_is_reported_in_one_line(encrypted: Path) -> None:
    code, _, errors = failing(encrypted, *NO_LOOPS)
    assert (code, "Traceback" in errors) == (1, False)
    assert errors.splitlines()[-1].endswith("identity transformer tried to read encrypted data")
