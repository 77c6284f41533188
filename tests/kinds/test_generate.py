"""The generator reproduces the packaged files: all bytes with complete sources, rows of an excerpt everywhere."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hatchling")

import hatch_build
from scripts.kinds import files, transcribed
from scripts.kinds.__main__ import main
from scripts.kinds.defaults import DefaultNotPublished
from scripts.kinds.messages import UnknownMessage
from scripts.kinds.sources import MODULES, SourceNotFound, Sources, find

from sampan.core.kubernetes_version import KUBERNETES_VERSION
from sampan.schema.builtin import Definitions
from tests.kinds.excerpt import unpack


def complete_sources() -> Sources:
    """Return the sources of the packaged version, from a checkout named in the environment or Go's module cache."""
    try:
        return find(os.environ.get("SAMPAN_TEST_KUBERNETES", KUBERNETES_VERSION))
    except SourceNotFound as error:
        pytest.skip(str(error))


def packaged(name: str) -> Any:
    return json.loads((files.ROOT / name).read_bytes())


@pytest.fixture(scope="module")
def excerpt(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return unpack(tmp_path_factory.mktemp("kubernetes"))


@pytest.fixture(scope="module")
def made(excerpt: Sources) -> dict[str, bytes]:
    return files.generate(excerpt)


def test_complete_sources_reproduce_every_file_byte_for_byte() -> None:
    assert files.changed(files.generate(complete_sources())) == []


def test_tables_in_the_code_agree_with_complete_sources() -> None:
    assert list(transcribed.differences(complete_sources())) == []


def test_check_succeeds_with_complete_sources(capsys: pytest.CaptureFixture[str]) -> None:
    complete_sources()
    status = main(["check", *filter(None, [os.environ.get("SAMPAN_TEST_KUBERNETES")])])
    assert (status, capsys.readouterr().out.startswith("all ")) == (0, True)


@pytest.mark.parametrize("name", ["fields.json", "defaults.json"])
def test_rows_of_the_excerpt_equal_the_packaged_ones(made: dict[str, bytes], name: str) -> None:
    rows, known = json.loads(made[f"{files.DATA}/{name}"]), packaged(f"{files.DATA}/{name}")
    assert rows
    assert rows == {key: known[key] for key in rows}


def test_resources_of_the_excerpt_equal_the_packaged_ones(made: dict[str, bytes]) -> None:
    rows = json.loads(made[f"{files.DATA}/resources.json"])
    assert [row["resource"] for row in rows] == ["nodes", "pods", "pods/eviction", "leases"]
    known = packaged(f"{files.DATA}/resources.json")
    assert [row for row in rows if row not in known] == []


def test_messages_of_the_excerpt_equal_the_packaged_ones(made: dict[str, bytes]) -> None:
    name = "src/sampan/wire/protobuf/messages.json"
    found, known = json.loads(made[name]), packaged(name)
    assert "core.v1.ContainerPort" in found["messages"]
    for part in ("groups", "messages"):
        assert found[part] == {key: known[part][key] for key in found[part]}


def test_definitions_of_the_excerpt_equal_the_packaged_ones(made: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "schemas.bin"
    path.write_bytes(made[hatch_build.TARGET])
    found, known = Definitions(path), Definitions()
    assert "io.k8s.api.core.v1.ContainerPort" in found.names()
    for name in found.names():
        assert found._load(name) == known._load(name)


def test_a_struct_that_is_embedded_or_declared_elsewhere_contributes_its_fields(tmp_path: Path) -> None:
    sources = unpack(
        tmp_path,
        ("type Protocol string\n", "type Protocol string\n\ntype LeaseSpec coordination.LeaseSpec\n"),
        ('\tmetav1 "k8s.io/apimachinery/pkg/apis/meta/v1"\n)\n\ntype ConfigMap', CORE_IMPORTS),
        ('"io.k8s.api.coordination.v1.LeaseSpec": {"properties"', '"io.k8s.api.core.v1.LeaseSpec": {"properties"'),
        ("definitions/io.k8s.api.coordination.v1.LeaseSpec", "definitions/io.k8s.api.core.v1.LeaseSpec"),
    )
    fields = json.loads(files.generate(sources)[f"{files.DATA}/fields.json"])
    assert fields["io.k8s.api.core.v1.LeaseSpec"]["acquireTime"] == "po v1.MicroTime"
    assert list(fields["io.k8s.api.core.v1.ConfigMapKeySelector"]) == ["name", "key", "optional"]


CORE_IMPORTS = '\tcoordination "k8s.io/api/coordination/v1"\n)\n\ntype ConfigMap'


def test_message_without_a_go_field_is_refused(tmp_path: Path) -> None:
    sources = unpack(tmp_path, ("  optional string hostIP = 5;", "  optional string hostIP = 6;"))
    with pytest.raises(UnknownMessage, match=r"ContainerPort\.hostIP"):
        files.generate(sources)


def test_default_that_the_go_type_implies_but_no_document_states_is_refused(tmp_path: Path) -> None:
    sources = unpack(tmp_path, ('"containerPort": {"default": 0,', '"containerPort": {'))
    with pytest.raises(DefaultNotPublished, match=r"ContainerPort\.containerPort"):
        files.generate(sources)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (("  optional string hostIP = 5;", "  optional string hostIP = 6;"), "OWN_JSON in scripts/kinds/messages.py"),
        (('"containerPort": {"default": 0,', '"containerPort": {'), "scripts/kinds/defaults.py"),
    ],
    ids=["message", "default"],
)
def test_an_unknown_case_is_an_error_that_names_the_module_to_change(
    change: tuple[str, str], place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unpack(tmp_path, change)
    assert main(["check", str(tmp_path)]) == 1
    assert place in capsys.readouterr().err


def test_sources_are_found_in_the_cache_of_go_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = unpack(tmp_path / "checkout")
    cache = tmp_path / "cache/k8s.io"
    cache.mkdir(parents=True)
    (cache / "kubernetes@v1.36.7").symlink_to(checkout.kubernetes)
    for name in MODULES:
        (cache / f"{name}@v0.36.7").symlink_to(checkout.modules[name])
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "cache"))
    assert files.generate(find("1.36.7")) == files.generate(checkout)


@pytest.mark.parametrize("place", ["1.2.3", "no/such/checkout"])
def test_missing_sources_are_an_error_that_names_the_remedy(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GOMODCACHE", str(tmp_path))
    assert main(["check", place]) == 1
    assert "DOWNLOAD=1" in capsys.readouterr().err


def test_sources_of_another_minor_version_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unpack(tmp_path, ('DefaultKubeBinaryVersion = "1.36"', 'DefaultKubeBinaryVersion = "1.99"'))
    assert main(["generate", str(tmp_path)]) == 1
    assert f"declares {KUBERNETES_VERSION}: change it first" in capsys.readouterr().err


def test_check_lists_the_files_that_differ_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unpack(tmp_path)
    before = (files.ROOT / files.DATA / "resources.json").read_bytes()
    assert main(["check", str(tmp_path)]) == 1
    assert f"differs: {files.DATA}/resources.json" in capsys.readouterr().out
    assert (files.ROOT / files.DATA / "resources.json").read_bytes() == before


def test_written_files_are_the_made_ones(made: dict[str, bytes], tmp_path: Path) -> None:
    assert set(files.changed(made, tmp_path)) == set(made)
    files.write(made, tmp_path)
    assert files.changed(made, tmp_path) == []


def test_a_column_and_a_priority_that_differ_are_to_be_corrected_by_hand(tmp_path: Path) -> None:
    sources = unpack(
        tmp_path,
        ('Name: "Holder"', 'Name: "Owner"'),
        ("{Group: 16500, Version: 15}", "{Group: 16500, Version: 16}"),
        ('RelaxedServiceNameValidation featuregate.Feature = "R', 'RelaxedServiceNames featuregate.Feature = "R'),
    )
    found = "\n".join(transcribed.differences(sources))
    assert "columns of coordination.k8s.io/leases" in found
    assert "priorities of coordination.k8s.io/v1 are (16500, 16), not (16500, 15)" in found
    assert "csidrivers" not in found
