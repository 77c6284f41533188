"""Fixture with a real Neutron, installed and started once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from neutron_server.launch import Neutron, running


@pytest.fixture(scope="session")
def neutron(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neutron]:
    """Run a Neutron with an empty database."""
    data: Path = tmp_path_factory.mktemp("neutron")
    with running(data) as server:
        yield server
