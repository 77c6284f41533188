"""A server for the plug-in, and a way to run it as kubectl does."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from sampan.cli.kubectl.main import main
from tests.cli.objects.conftest import Done
from tests.cli.server import Server, running
from tests.e2e.conftest import Api, new_namespace

Run = Callable[..., Done]


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all these tests."""
    with running(tmp_path_factory.mktemp("kubectl") / "data", "--storage", "memory") as found:
        yield found


@pytest.fixture(scope="package")
def api(server: Server) -> Iterator[Api]:
    """A connection of the administrator."""
    api = Api(server)
    yield api
    api.close()


@pytest.fixture(scope="package")
def numbers() -> Iterator[int]:
    """Counter for unique names."""
    return itertools.count(1)


@pytest.fixture
def namespace(api: Api, numbers: Iterator[int]) -> str:
    """A namespace of the test's own."""
    return new_namespace(api, numbers)


@pytest.fixture
def run(server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `kubectl sampan …` in this process."""
    monkeypatch.setenv("KUBECONFIG", str(server.data / "kubeconfig"))

    def command(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        observed = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Done(code, observed.out, observed.err)

    return command
