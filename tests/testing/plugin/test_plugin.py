"""The plug-in with each way to run an asynchronous test, and its messages."""

import pytest

import sampan.scheduler.set_up
import sampan.testing.pytest_session  # noqa: F401  # pytester forgets modules that a run imports; numpy loads only once

pytest_plugins = ["pytester"]

FLAGS = ("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin")
ASYNC = """
import datetime as dt

import pytest

{imports}

@pytest.fixture
def name():
    return "box"

{fixture}
async def box(cluster, name):
    await cluster.apply({{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": name}}}})

{mark}
async def test_box(cluster, box):
    assert await cluster.get("cm/box")
    await cluster.advance(days=1)
    assert cluster.now() >= dt.datetime(2030, 1, 2, tzinfo=dt.timezone.utc)
"""
PLAIN = """
import pytest

async def test_without_another_plug_in(cluster):
    assert await cluster.get("ns/default")

def test_plain(cluster):
    assert cluster.blocking.get("ns/default")
    cluster.blocking.advance(hours=1)

@pytest.mark.cluster(time="real")
async def test_real_time(cluster):
    assert await cluster.get("ns/default")
    with pytest.raises(RuntimeError, match="this test runs in real time"):
        await cluster.advance(hours=1)

@pytest.mark.cluster(loop="chain")
def test_unknown_option(cluster):
    pass

@pytest.mark.cluster(loops="chains")
def test_unknown_loop(cluster):
    pass

async def test_operator_fails(cluster):
    async def broken():
        raise ValueError("no crew")
    cluster.run(broken)
    await cluster.settled()

async def test_leaked_task(cluster):
    import asyncio
    async def operator():
        asyncio.get_running_loop().create_task(asyncio.sleep(1e6), name="left alone")
    cluster.run(operator)
    await cluster.settled()
"""


def test_it_works_with_pytest_asyncio_in_virtual_time(pytester: pytest.Pytester) -> None:
    source = ASYNC.format(
        imports="import pytest_asyncio", fixture="@pytest_asyncio.fixture", mark="@pytest.mark.asyncio"
    )
    pytester.makepyfile(source)
    result = pytester.runpytest_inprocess(*FLAGS, "-o", "asyncio_default_fixture_loop_scope=function")
    result.assert_outcomes(passed=1)


def test_it_works_with_anyio_in_virtual_time(pytester: pytest.Pytester) -> None:
    backend = '@pytest.fixture\ndef anyio_backend():\n    return "asyncio"\n'
    pytester.makepyfile(ASYNC.format(imports=backend, fixture="@pytest.fixture", mark="@pytest.mark.anyio"))
    result = pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio")
    result.assert_outcomes(passed=1)


def test_it_runs_tests_itself_and_names_the_fault(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PLAIN)
    result = pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio")
    result.assert_outcomes(passed=3, failed=2, errors=2)
    result.stdout.fnmatch_lines_random(
        [
            "*mark cluster: 'loop' is unknown; it takes admission, allow_errors, leaks, loops, nodes, roles, *",
            "*mark cluster: loops: 'chains' is unknown, did you mean 'chain'; known are gc, *",
            "*ValueError: no crew*",
            "*operator ended with this error*",
            "*task left alone still runs*",
        ]
    )


WARNED = """
async def test_box(cluster):
    async def make():
        head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}}
        await maps.create({**head, "date": {}})
    from sampan.core.gvk import GroupVersionResource
    from sampan.resource import ResourceInfo
    info = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
    maps = cluster.client(actor="operator").resource(info)
    cluster.run(make)
    await cluster.eventually("cm/box")
"""


@pytest.mark.parametrize(
    ("flags", "outcome"),
    [(("-W", "default"), {"passed": 1, "warnings": 1}), (("-W", "error"), {"failed": 1})],
    ids=["shown", "error"],
)
def test_warnings_of_the_server_are_those_of_pytest(
    pytester: pytest.Pytester, flags: tuple[str, ...], outcome: dict[str, int]
) -> None:
    pytester.makepyfile(WARNED)
    result = pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio", *flags)
    result.assert_outcomes(**outcome)
    result.stdout.fnmatch_lines(
        ['*ServerWarning: operator: create configmaps default -> 201, warning: unknown field "d*']
    )


def test_an_unused_plug_in_imports_no_server(pytester: pytest.Pytester) -> None:
    code = (
        "import sys, sampan.pytest_plugin; print([n for n in sys.modules if n.startswith('sampan.') or n == 'asyncio'])"
    )
    result = pytester.run(__import__("sys").executable, "-c", code)
    assert result.outlines == ["['sampan.pytest_plugin']"]
