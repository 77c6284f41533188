"""client-go and controller-runtime against a real server: each step of tests/e2e/go is a test.

The program is built once for all tests.
"""

import itertools
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import Api, new_namespace
from tests.e2e.go_build import build

STEP_TIMEOUT_S = 90
SOURCE = Path(__file__).parent / "go"
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

Step = Callable[[str], None]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built program; without Go or its modules the tests are skipped."""
    return build(SOURCE, tmp_path_factory.mktemp("go") / "go-clients", "build", ".")


def environment_of(server: Server) -> dict[str, str]:
    """Return the environment of a step."""
    return {"KUBECONFIG": str(server.data / "kubeconfig"), "HOME": str(server.data.parent), "NO_PROXY": "*"}


@pytest.fixture(scope="module")
def go(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Step]:
    """Runs a step in a new namespace; a complaint of the step fails the test."""
    numbers = itertools.count(1)
    data = tmp_path_factory.mktemp("go-server") / "data"
    with running(data, "--storage", "memory") as server, closing(Api(server)) as api:
        environment = environment_of(server)

        def run(step: str) -> None:
            done = subprocess.run(
                [program, step, new_namespace(api, numbers)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=STEP_TIMEOUT_S,
                check=False,
            )
            assert (done.returncode, done.stdout) == (0, f"ok {step}\n"), done.stderr

        yield run


def test_generated_clients_work_in_protobuf_alone(go: Step) -> None:
    go("typed")


def test_the_dynamic_client_works_with_custom_and_builtin_objects(go: Step) -> None:
    go("dynamic")


def test_shared_informers_stream_their_list_and_follow(go: Step) -> None:
    go("informer")


def test_a_second_candidate_leads_when_the_first_resigns(go: Step) -> None:
    go("leader")


def test_patches_of_all_types(go: Step) -> None:
    go("patch")


def test_apply_configurations_own_conflict_and_take_over(go: Step) -> None:
    go("apply")


def test_pods_are_evicted_within_their_budget(go: Step) -> None:
    go("eviction")


def test_the_metadata_client_needs_nothing_but_metadata(go: Step) -> None:
    go("metadata")


def test_discovery_finds_everything_and_the_mapper_maps_it(go: Step) -> None:
    go("discovery")


def test_watches_go_on_where_they_ended(go: Step) -> None:
    go("resume")


@contextmanager
def started(program: Path, step: str, server: Server) -> "Iterator[subprocess.Popen[str]]":
    """A step in `default` that goes on beside the test; killed at the end if it still runs."""
    process = subprocess.Popen(
        [program, step, "default"],
        env=environment_of(server),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_informers_go_on_when_a_killed_server_comes_back(program: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data) as server, started(program, "restart", server) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "watching\n"
        server.process.kill()
        server.process.wait()
        with running(data, "--port", str(server.port)) as again, closing(Api(again)) as api:
            api.create("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "after"}})
            output, complained = process.communicate(timeout=STEP_TIMEOUT_S)
    assert output == "ok restart\n", complained


def test_the_client_of_controller_runtime_works_with_builtin_objects(go: Step) -> None:
    go("runtime-client")


def test_the_client_of_controller_runtime_works_with_custom_resources(go: Step) -> None:
    go("runtime-crd")


def test_the_cache_of_controller_runtime_follows_builtin_objects(go: Step) -> None:
    go("runtime-cache")


def test_the_cache_of_controller_runtime_follows_custom_resources(go: Step) -> None:
    go("runtime-watches")
