"""`objects.inv`: public names for links from other projects."""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

import sphobjinv
from scripts.reference.definitions import public_names
from scripts.reference.packages import PACKAGES
from scripts.reference.pages import FOLDER
from scripts.site.reference import inventory

from sampan import __version__
from tests.site_reference.generated import anchors


def lines() -> list[str]:
    head, _, body = inventory().partition(b"using zlib.\n")
    assert head.decode().splitlines()[:3] == [
        "# Sphinx inventory version 2", "# Project: Sampan", f"# Version: {__version__}",
    ]  # fmt: skip
    return zlib.decompress(body).decode().splitlines()


def numbered(found: Iterable[str]) -> Iterator[str]:
    """Yield anchors, with a number after one that the page already has."""
    used: Counter[str] = Counter()
    for each in found:
        yield f"{each}-{used[each]}" if used[each] else each
        used[each] += 1


def test_names_that_differ_in_letter_case_have_different_addresses() -> None:
    addresses = {line.split()[0]: line.split()[3].partition("#")[2] for line in lines()}
    assert addresses["sampan.core.settings.Setting"] == "setting"
    assert addresses["sampan.core.settings.setting"] == "setting-1"


def test_each_public_name_has_an_entry_with_its_role() -> None:
    found = {line.split()[0]: line.split()[1] for line in lines()}
    assert {f"{package}.{name}" for package in PACKAGES for name in public_names(package)} - found.keys() == set()
    assert found["sampan.client.Client"] == "py:class"
    assert found["sampan.client.connect"] == "py:function"
    assert found["sampan.client.Client.resource"] == "py:method"
    assert found["sampan.client"] == "py:module"


def test_each_address_is_a_heading_of_the_reference() -> None:
    known = {file.stem: set(numbered(anchors(file.read_text()))) for file in FOLDER.glob("*.md")}
    for line in lines():
        page, _, name = line.split()[3].partition("#")
        package = page.removeprefix("reference/").removesuffix(".html")
        assert not name or name in known[package], line


def test_a_reader_of_sphinx_inventories_finds_the_page_of_a_name() -> None:
    read = sphobjinv.Inventory(zlib=inventory())
    assert (read.project, read.version) == ("Sampan", __version__)
    [found] = [each for each in read.objects if each.name == "sampan.client.connect"]
    assert (found.domain, found.role, found.uri) == ("py", "function", "reference/sampan.client.html#connect")
