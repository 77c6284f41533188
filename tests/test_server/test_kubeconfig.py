"""`pytest --cluster=kubeconfig`: the same tests against a server that listens."""

import pytest

import sampan.testing.pytest_session  # noqa: F401  # pytester forgets modules that a run imports
from sampan.test_server.endpoint import serving

pytest_plugins = ["pytester"]

TESTS = """
import pytest

async def test_box(cluster):
    await cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}})
    found = await cluster.eventually("cm/box")
    assert found["metadata"]["namespace"].startswith("test-")
    assert await cluster.find("cm/box", namespace="default") is None
    assert cluster.requests.writes.of("configmaps", "box")

async def test_day(cluster):
    await cluster.advance(days=1)
"""


@pytest.fixture(scope="module", autouse=True)
def directory(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Make the directory of pytest's own before `environment` sets another one for a while."""
    tmp_path_factory.getbasetemp()


def test_tests_run_on_a_real_cluster_in_new_namespaces(
    environment: dict[str, str], pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(TESTS)
    flags = ("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-p", "no:asyncio", "-rs")
    with serving(loops="none") as endpoint:
        monkeypatch.setenv("KUBECONFIG", str(endpoint.kubeconfig))
        result = pytester.runpytest_inprocess(*flags, "--cluster=kubeconfig")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*the clock of a real cluster cannot be moved: run the test without --cluster"])
    wrong = pytester.runpytest_inprocess(*flags, "--cluster=kind")
    wrong.stdout.fnmatch_lines(["*--cluster is kubeconfig or kubeconfig:CONTEXT, not 'kind'"])
