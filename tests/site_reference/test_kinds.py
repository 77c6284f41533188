"""Pages of kinds: each kind that a server has, and each of its fields, is described in one place."""

import re
from collections import Counter
from collections.abc import Iterator

from scripts.site.reference import fields
from scripts.site.reference.kinds import INDEX, schemas, served, types
from scripts.site.reference.types import definition_of

from sampan.registry.builtins import Builtins
from tests.site_reference.generated import generated, headings, names


def place_of(name: str) -> str:
    """Return the page that describes a definition."""
    pages = {each.name: each.page for each in served() if each.name}
    return pages.get(name) or types().page(name)


def test_each_kind_and_version_is_in_the_index() -> None:
    index = generated()[INDEX]
    sections = {part.partition("\n")[0]: part for part in index.split("\n## ")}
    expected = {
        (definition.group or "core", definition.kind, version.name)
        for definition in Builtins(schemas()).definitions
        for version in definition.versions.values()
        if version.served
    } | {("conversion.sampan.dev", "HubConversion", "v1alpha1")}
    found = set()
    for group, text in sections.items():
        versions = re.findall(r"`(?:[^`]*/)?(v[^`/]+)`", text.partition("\n| ")[0])
        for kind, version in re.findall(
            r"^\| \[?(\w+)(?:\]\S*)?(?: `(\w+)`)? \| (?:namespace|cluster) \|", text, re.MULTILINE
        ):
            found.add((group, kind, version or versions[0]))
    assert found == expected


def test_each_type_is_described_on_one_page() -> None:
    owners = Counter(each for owner in [*types().roots, *types().shared] for each in types().sections(owner))
    assert {name for name, count in owners.items() if count > 1} == set()
    assert {name for name in reachable() if types().is_object(name)} == set(owners)


def reachable() -> Iterator[str]:
    """Yield all definitions that the kinds use, directly and indirectly."""
    known: set[str] = set()
    waiting = [*types().roots, *types().bodies]
    while waiting:
        name = waiting.pop()
        if name not in known:
            known.add(name)
            yield name
            for field in types().node(name).get("properties", {}).values():
                nodes = (field, field.get("items", {}), field.get("additionalProperties", {}))
                waiting += [used for node in nodes if (used := definition_of(node))]


def test_each_field_is_in_a_table() -> None:
    for owner in [*types().roots, *types().shared]:
        page = generated()[place_of(owner)]
        expected = {field for name in types().sections(owner) for field in types().node(name).get("properties", {})}
        assert expected <= names(page), owner


def test_a_kind_shows_names_scope_and_subresources() -> None:
    page = generated()["reference/kinds/apps-v1-deployment.md"]
    for row in (
        "| short names | `deploy` |",
        "| scope | namespace |",
        "| subresource `status` | `get`, `patch`, `update` |",
    ):
        assert row in page
    assert "body [Scale](../types/autoscaling-v1-scale.md)" in page


def test_a_required_field_is_marked() -> None:
    page = generated()["reference/kinds/apps-v1-deployment.md"]
    assert "| `selector` | *[LabelSelector](../types/meta-v1-labelselector.md)*, required. Label selector" in page


def test_a_custom_resource_has_a_section_for_each_path() -> None:
    page = generated()["reference/kinds/conversion-v1alpha1-hubconversion.md"]
    assert "`spec.versions[].fields[]`" in [title for _, title in headings(page)]
    assert {"hubVersion", "toHub", "fromHub"} <= names(page)


def test_a_description_is_cut_at_the_end_of_a_sentence() -> None:
    text = "Number of Pods, e.g. three. More info: https://example.com/a. " + "A long sentence that goes on. " * 20
    found = fields.short(text)
    assert found.startswith("Number of Pods, e.g. three. A long sentence")
    assert found.endswith("goes on.")
    assert len(found) < 300


def test_the_pages_stay_small() -> None:
    assert sum(map(len, generated().values())) < 1_000_000
    assert len(generated()) < 300
