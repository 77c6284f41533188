"""`build_image`: layers, configuration, lock, base and pushes."""

import gzip
import io
import json
import tarfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import Descriptor
from sampan.oci.http_exchange import HttpExchange
from sampan.oci.image import blobs_of, manifests_of
from sampan.oci.registry import Registry
from sampan.oci.transfer import push
from sampan.project.errors import ProjectError
from sampan.project.image.build import BuildOptions, Built, build_image, push_image
from sampan.project.image.settings import image_settings
from sampan.project.pyproject import project_at
from tests.oci.images import new_store, small_index
from tests.oci.registry_server import RegistryServer, serving
from tests.oci.test_registries import reference
from tests.project.image.projects import MACHINE, write_project, write_wheel

Build = Callable[..., Any]


@pytest.fixture
async def exchange() -> AsyncIterator[HttpExchange]:
    async with HttpExchange() as made:
        yield made


async def build(root: Path, exchange: HttpExchange, *, report: list[str] | None = None, **options: Any) -> Built:
    """Build the image of a project, with the cache next to it."""
    lines = [] if report is None else report
    chosen = BuildOptions(root.parent / "cache", **options)
    return await build_image(image_settings(project_at(root)), chosen, exchange, lines.append)


def files_of(store: BlobStore, layer: Descriptor) -> dict[str, bytes]:
    """Return the files of a layer."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(store.read(layer.digest)))) as archive:
        found = {}
        for member in archive:
            if member.isfile():
                content = archive.extractfile(member)
                assert content is not None
                found[member.name] = content.read()
        return found


def config_of(built: Built) -> dict[str, Any]:
    """Return the configuration of the image for the first platform."""
    config, *_ = blobs_of(built.store, manifests_of(built.store, built.root)[0])
    found: dict[str, Any] = json.loads(built.store.read(config.digest))
    return found


async def test_an_image_has_the_base_the_wheels_and_the_package(tmp_path: Path, exchange: HttpExchange) -> None:
    built = await build(write_project(tmp_path / "boats"), exchange)
    _, base, wheels, package = blobs_of(built.store, built.root)
    assert "./etc/os-release" in files_of(built.store, base)
    assert set(files_of(built.store, package)) == {"app/src/boats/__main__.py", "app/src/boats/data.json"}
    names = set(files_of(built.store, wheels))
    assert {"app/lib/crew/__init__.py", "app/lib/sampan_operator/__init__.py"} <= names
    assert not any(name.endswith(("RECORD", "INSTALLER", "direct_url.json", ".pyc")) for name in names)


async def test_the_image_has_the_small_distribution_of_sampan(tmp_path: Path, exchange: HttpExchange) -> None:
    built = await build(write_project(tmp_path / "boats"), exchange)
    names = files_of(built.store, blobs_of(built.store, built.root)[2])
    assert "app/lib/sampan/__init__.py" not in names


async def test_the_container_runs_the_package_as_a_user_without_rights(tmp_path: Path, exchange: HttpExchange) -> None:
    config = config_of(await build(write_project(tmp_path / "boats"), exchange))["config"]
    assert (config["Entrypoint"], config["User"]) == (["python3", "-m", "boats"], "65532:65532")
    assert "PYTHONPATH=/app/src:/app/lib" in config["Env"]
    assert config["Labels"]["org.opencontainers.image.version"] == "1.2.3"


async def test_the_same_project_has_the_same_digest_in_another_place(tmp_path: Path, exchange: HttpExchange) -> None:
    digests = set()
    for name in ("one", "two"):
        root = write_project(tmp_path / name / "boats")
        (root / "src" / "boats" / "data.json").chmod(0o600 if name == "one" else 0o644)
        digests.add((await build(root, exchange)).root.digest)
    assert len(digests) == 1


async def test_a_change_of_the_package_changes_only_its_layer(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    before = blobs_of((found := await build(root, exchange)).store, found.root)
    (root / "src" / "boats" / "__main__.py").write_text('print("other")\n')
    after = blobs_of((found := await build(root, exchange)).store, found.root)
    assert [old.digest == new.digest for old, new in zip(before, after, strict=True)] == [False, True, True, False]


async def test_an_image_for_two_platforms_has_the_wheels_of_each(tmp_path: Path, exchange: HttpExchange) -> None:
    with serving(RegistryServer()) as server:
        root = await project_on_registry(tmp_path, server, exchange)
        built = await build(root, exchange)
    tags = []
    for manifest in manifests_of(built.store, built.root):
        wheels = files_of(built.store, blobs_of(built.store, manifest)[2])
        tags.append(wheels["app/lib/crew/__init__.py"])
    assert tags == [
        b"TAG = 'cp311-cp311-manylinux_2_17_x86_64'\n",
        b"TAG = 'cp311-cp311-manylinux_2_17_aarch64'\n",
    ]


async def project_on_registry(place: Path, server: RegistryServer, exchange: HttpExchange) -> Path:
    """Write a project whose base is an image for two platforms on a registry."""
    store = new_store(place / "registry")
    name = reference(server, "library/base:1")
    pushed = await push(Registry(exchange, server.host, lambda host: None), name, small_index(store), store)
    image = f'name = "{server.host}/team/boats"\nbase = "{name}@{pushed.digest}"\npython = "3.11"\n'
    return write_project(place / "boats", image=image)


async def test_a_push_sends_neither_the_base_nor_anything_twice(tmp_path: Path, exchange: HttpExchange) -> None:
    with serving(RegistryServer()) as server:
        root = await project_on_registry(tmp_path, server, exchange)
        built = await build(root, exchange)
        first = await push_image(built, exchange)
        base = built.base.images[built.settings.platforms[0]].layers[0]
        assert base.digest not in built.store
        assert ("team/boats", base.digest) in server.blobs
        (root / "src" / "boats" / "__main__.py").write_text('print("other")\n')
        second = await push_image(await build(root, exchange), exchange)
        assert 0 < second.sent_bytes < first.sent_bytes
        assert server.manifests["team/boats", "1.2.3"][1] == built.store.read(second.digest)


async def test_the_digest_of_a_new_base_is_written_to_the_project(tmp_path: Path, exchange: HttpExchange) -> None:
    with serving(RegistryServer()) as server:
        root = await project_on_registry(tmp_path, server, exchange)
        place = root / "pyproject.toml"
        text = place.read_text()
        named = text.partition("@sha256:")[0].rpartition('"')[2]
        place.write_text(text.replace(text[text.index("@sha256:") : text.index("@sha256:") + 72], ""))
        with pytest.raises(ProjectError, match="has no digest, so it can change: run sampan build --update-base"):
            await build(root, exchange)
        await build(root, exchange, update_base=True)
        assert place.read_text() == text
        assert named in text


async def test_the_lock_has_paths_within_the_project(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    report: list[str] = []
    await build(root, exchange, report=report)
    text = (root / "pylock.toml").read_text()
    assert 'path = "wheels/crew-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"' in text
    assert str(tmp_path) not in text
    assert "lock     wheels for Python 3.11" in report


async def test_an_unchanged_project_is_not_locked_again(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    await build(root, exchange)
    write_wheel(root / "wheels", "sampan_operator", "2.0")
    report: list[str] = []
    await build(root, exchange, report=report, is_locked=True)
    assert not any(line.startswith("lock") for line in report)
    await build(root, exchange, report=report, update_lock=True)
    assert 'version = "2.0"' in (root / "pylock.toml").read_text()


async def test_a_changed_dependency_is_locked_but_not_in_ci(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats", dependencies='"sampan"')
    await build(root, exchange)
    place = root / "pyproject.toml"
    place.write_text(place.read_text().replace('"sampan"', '"sampan", "crew"', 1))
    with pytest.raises(ProjectError, match="does not fit the dependencies: run sampan build --lock"):
        await build(root, exchange, is_locked=True)
    await build(root, exchange)
    assert 'name = "crew"' in (root / "pylock.toml").read_text()


async def test_a_wheel_that_changed_after_the_lock_is_refused(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    await build(root, exchange)
    write_wheel(root / "wheels", "sampan_operator", requires="evil")
    with pytest.raises(ProjectError, match=r"sampan_operator.* is not the wheel that was locked"):
        await build_with_other_cache(root, exchange)


async def build_with_other_cache(root: Path, exchange: HttpExchange) -> Built:
    """Build without the layers of earlier builds."""
    settings = image_settings(project_at(root))
    return await build_image(settings, BuildOptions(root.parent / "other"), exchange, lambda line: None)


async def test_a_missing_wheel_names_the_package_and_the_platform(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    for wheel in (root / "wheels").glob("crew-*"):
        wheel.unlink()
    write_wheel(root / "wheels", "crew", tag="cp311-cp311-win_amd64")
    with pytest.raises(ProjectError, match=rf"do not fit {MACHINE} with Python 3\.11: .*`crew`.*no binary"):
        await build(root, exchange)
    assert not (root / "dist").exists()


async def test_an_unknown_dependency_is_named(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats", dependencies='"absent"')
    with pytest.raises(ProjectError, match=r"the dependencies cannot be locked: .*absent"):
        await build(root, exchange)
    assert [path.name for path in root.glob("pylock*")] == []


async def test_a_missing_package_is_named(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    (root / "src").rename(root / "other")
    with pytest.raises(ProjectError, match=r"tool\.sampan\.package names the import package"):
        await build(root, exchange)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("name = 7", r"tool\.sampan\.image\.name must be a text"),
        ('name = "Boats"', "is not the name of an image"),
        ('platforms = ["linux/riscv64"]', r"'linux/riscv64' is unknown; there are linux/amd64, linux/arm64"),
        ("platforms = []", "must be a list of texts, with at least one"),
        ("user = 0", "must be the number of a user other than root"),
        ("user = true", "must be the number of a user other than root"),
        ('python = "3"', r"python must be like"),
        ("env = {a = 1}", "env must be a table of texts"),
        ('bse = "x"', r"unknown tool\.sampan\.image\.bse; there are base, env"),
        ('base = "./absent.tar"', r"absent\.tar does not exist"),
    ],
)
async def test_a_bad_setting_is_named(table: str, message: str, tmp_path: Path, exchange: HttpExchange) -> None:
    with pytest.raises(ProjectError, match=message):
        await build(write_project(tmp_path / "boats", image=table), exchange)


async def test_a_base_without_python_is_an_error_with_a_hint(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    with tarfile.open(root / "base.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("etc/passwd"))
        folder = tarfile.TarInfo("usr")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    with pytest.raises(ProjectError, match="has no python3: add the package python3-minimal"):
        await build(root, exchange)


async def test_a_root_file_system_is_for_one_platform(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats", image='base = "base.tar"\n')
    with pytest.raises(ProjectError, match=rf"base\.tar is for {MACHINE}: set tool\.sampan\.image\.platforms"):
        await build(root, exchange)


async def test_a_damaged_note_of_a_layer_is_ignored(tmp_path: Path, exchange: HttpExchange) -> None:
    root = write_project(tmp_path / "boats")
    first = await build(root, exchange)
    for note in (tmp_path / "cache" / "layers").iterdir():
        note.write_text("[1")
    assert (await build(root, exchange)).root == first.root


async def test_the_time_of_an_image_can_be_set(
    tmp_path: Path, exchange: HttpExchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_project(tmp_path / "boats")
    assert config_of(await build(root, exchange))["created"] == "1970-01-01T00:00:00Z"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    assert config_of(await build(root, exchange))["created"] == "2027-01-15T08:00:00Z"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ProjectError, match="SOURCE_DATE_EPOCH must be seconds"):
        await build(root, exchange)


async def test_a_command_can_replace_settings(tmp_path: Path) -> None:
    root = write_project(tmp_path / "boats")
    settings = image_settings(project_at(root), {"name": "registry.test/x:9"})
    assert str(settings.name) == "registry.test/x:9"
