"""From a kubeconfig to a client."""

from pathlib import Path

import pytest

from sampan.client import Client, Config, ConfigError, connect

KUBECONFIG = """
clusters:
- {name: one, cluster: {server: "http://127.0.0.1:1"}}
contexts:
- {name: a, context: {cluster: one, namespace: from-a}}
- {name: b, context: {cluster: one}}
current-context: a
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return path


async def test_the_context_states_the_namespace(kubeconfig: Path) -> None:
    async with connect(kubeconfig) as client:
        assert client.namespace == "from-a"


async def test_arguments_of_connect_override_the_kubeconfig(kubeconfig: Path) -> None:
    async with connect(kubeconfig, context="b") as in_b, connect(kubeconfig, namespace="mine") as in_mine:
        assert (in_b.namespace, in_mine.namespace) == ("default", "mine")


async def test_the_environment_names_the_file(kubeconfig: Path) -> None:
    async with connect(environ={"KUBECONFIG": str(kubeconfig)}) as client:
        assert client.namespace == "from-a"


async def test_a_configuration_made_by_hand_will_do() -> None:
    async with Client.from_config(Config("http://127.0.0.1:1", namespace="x")) as client:
        assert client.namespace == "x"


def test_a_context_that_is_not_there_is_an_error(kubeconfig: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        connect(kubeconfig, context="nowhere")
