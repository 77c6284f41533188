"""Mistakes of a test's author, and fixtures that use a cluster after the test."""

import pytest

import sampan.testing.pytest_session  # noqa: F401  # pytester forgets modules that a run imports; numpy loads only once

pytest_plugins = ["pytester"]

FLAGS = ("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-W", "ignore::RuntimeWarning")
BOX = """
from sampan.testing import exists, field
BOX = dict(apiVersion="v1", kind="ConfigMap", metadata=dict(name="box"), data=dict(colour="blue"))
"""


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("async def test_it(cluster):\n    cluster.eventually('cm/box')", "eventually"),
        ("async def test_it(cluster):\n    cluster.apply(BOX)\n    await cluster.get('cm/box')", "apply"),
        ("def test_it(cluster):\n    cluster.apply(BOX)", "apply"),
    ],
    ids=["last", "first", "plain"],
)
def test_a_call_without_await_fails_the_test(pytester: pytest.Pytester, body: str, call: str) -> None:
    pytester.makepyfile(BOX + body)
    result = pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*cluster.{call}(...) in *.py:* was not awaited, so it did nothing: write await*"])


def test_a_task_is_a_way_to_await(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        BOX
        + "import asyncio\n"
        + "async def test_it(cluster):\n"
        + "    async with asyncio.TaskGroup() as tasks:\n"
        + "        tasks.create_task(cluster.eventually('cm/box'))\n"
        + "        tasks.create_task(cluster.apply(BOX))\n"
    )
    pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio").assert_outcomes(passed=1)


FIXTURE = (
    BOX
    + """
import pytest
{imports}

async def keep():
    import asyncio
    await asyncio.sleep(1e9)

@{fixture}
async def box(cluster):
    await cluster.apply(BOX)
    running = cluster.run(keep)
    yield "box"
    await cluster.delete("cm/box")
    await cluster.settled()
    assert running.is_running
    print("colour", await cluster.find("cm/box"))

@{fixture}
async def other(cluster, box):
    yield cluster
    print("colour", (await cluster.get("cm/box"))["data"]["colour"])

{mark}
async def test_it(other):
    await other.eventually("cm/box", field(".data.colour") == "blue")

{mark}
async def test_it_again(other):
    await other.eventually("cm/box", field(".data.colour") == "blue")
"""
)


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (
            {"imports": "import pytest_asyncio", "fixture": "pytest_asyncio.fixture", "mark": "@pytest.mark.asyncio"},
            ("-o", "asyncio_default_fixture_loop_scope=function"),
        ),
        (
            {
                "imports": "@pytest.fixture\ndef anyio_backend(): return 'asyncio'",
                "fixture": "pytest.fixture",
                "mark": "@pytest.mark.anyio",
            },
            ("-p", "no:asyncio"),
        ),
    ],
    ids=["pytest-asyncio", "anyio"],
)
def test_fixtures_use_the_cluster_after_the_test(
    pytester: pytest.Pytester, words: dict[str, str], flags: tuple[str, ...]
) -> None:
    pytester.makepyfile(FIXTURE.format(**words))
    result = pytester.runpytest_inprocess(*FLAGS, *flags, "-s")
    result.assert_outcomes(passed=2)
    shown = [line[line.index("colour") :] for line in result.outlines if "colour" in line]
    assert shown == ["colour blue", "colour None"] * 2


def test_a_value_that_is_no_predicate_is_one_clear_message(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        BOX + "async def test_it(cluster):\n    await cluster.apply(BOX)\n    await cluster.eventually('cm/box', True)"
    )
    result = pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio")
    result.stdout.fnmatch_lines(["*TypeError: True is no predicate: pass field('.spec.x') == 1, *"])


def test_a_failed_expectation_shows_the_line_of_the_test_and_no_code_of_the_cluster(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(BOX + "async def test_it(cluster):\n    await cluster.eventually('cm/box')")
    result = pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio")
    result.stdout.fnmatch_lines([">*await cluster.eventually('cm/box')*"])
    result.stdout.no_fnmatch_line("*deadline*")
    assert len(result.outlines) < 30


CRD = """
apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kits.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: kits, singular: kit, kind: Kit}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("{type: integer}", "{type: int}"), ['*Unsupported value: "int"*', "*at crds/kit.yaml:21"]),
        (("kind: CustomResourceDefinition", "kind: Namespace"), ["*no CustomResourceDefinition in 'crds'"]),
    ],
    ids=["schema", "none"],
)
def test_an_error_in_a_definition_names_its_file(
    pytester: pytest.Pytester, change: tuple[str, str], expected: list[str]
) -> None:
    (pytester.mkdir("crds") / "kit.yaml").write_text(CRD.replace(*change))
    pytester.makepyfile("async def test_it(cluster):\n    await cluster.crds('crds')")
    result = pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio")
    result.stdout.fnmatch_lines(expected)


def test_other_objects_in_a_file_of_definitions_are_left_out(pytester: pytest.Pytester) -> None:
    (pytester.mkdir("crds") / "kit.yaml").write_text(CRD)
    body = (
        "    await cluster.crds('crds')\n    await cluster.list('kits')\n    assert not await cluster.find('ns/other')"
    )
    pytester.makepyfile(f"async def test_it(cluster):\n{body}")
    pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio").assert_outcomes(passed=1)


def test_a_plain_test_runs_an_operator(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        BOX
        + "def test_it(cluster):\n"
        + "    async def operator():\n"
        + "        await cluster.apply(BOX)\n"
        + "    cluster.blocking.run(operator, name='op')\n"
        + "    cluster.blocking.eventually('cm/box')\n"
        + "    cluster.blocking.assert_idempotent()\n"
    )
    pytester.runpytest_inprocess(*FLAGS, "-p", "no:asyncio").assert_outcomes(passed=1)
