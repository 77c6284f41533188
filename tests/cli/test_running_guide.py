"""Files of docs/running.md work with a server."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from sampan.server.tracing.configuration import parse_tracing_configuration
from tests.cli.server import Server, running
from tests.e2e.conftest import Api

GUIDE = (Path(__file__).parents[2] / "docs" / "running.md").read_text()
FILES = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the guide's files."""
    folder = tmp_path_factory.mktemp("guide")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """Run a server with all of the files."""
    options = {
        "--audit-policy-file": "audit.yaml",
        "--audit-log-path": "audit.log",
        "--encryption-provider-config": "encryption.yaml",
    }
    words = [word for option, name in options.items() for word in (option, str(folder / name))]
    with running(folder / "data", *words) as found:
        yield found


@pytest.fixture(scope="module")
def api(server: Server) -> Iterator[Api]:
    api = Api(server)
    yield api
    api.close()


def test_guide_has_the_expected_files() -> None:
    assert set(FILES) == {"audit.yaml", "encryption.yaml", "lane.yaml", "tracing.yaml"}


def test_secrets_are_encrypted_and_not_in_the_audit_log(api: Api, folder: Path) -> None:
    secret = {"metadata": {"name": "a"}, "stringData": {"word": "open sesame"}}
    api.create("/api/v1/namespaces/default/secrets", secret)
    api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}, "data": {"x": "seen"}})
    events = [json.loads(line) for line in (folder / "audit.log").read_text().splitlines()]
    written = {event["objectRef"]["resource"]: event for event in events if event["verb"] == "create"}
    assert written["configmaps"]["requestObject"]["data"] == {"x": "seen"}
    assert "requestObject" not in written["secrets"]
    stored = b"".join(file.read_bytes() for file in (folder / "data").glob("state.db*"))
    assert b"k8s:enc:secretbox:v1:key1:" in stored
    assert b"b3BlbiBzZXNhbWU=" not in stored


def test_priority_level_and_flow_schema_are_accepted(api: Api) -> None:
    paths = ("prioritylevelconfigurations", "flowschemas")
    for path, obj in zip(paths, yaml.safe_load_all(FILES["lane.yaml"]), strict=True):
        api.create(f"/apis/flowcontrol.apiserver.k8s.io/v1/{path}", obj)


def test_tracing_configuration_is_accepted() -> None:
    assert parse_tracing_configuration(FILES["tracing.yaml"].encode()).endpoint == "localhost:4317"
