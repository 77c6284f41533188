"""A start that is refused names the option and leaves nothing in a new data directory."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from sampan.app.errors import StartError
from sampan.app.input_files import check_input_files, naming_option
from sampan.app.main import up
from sampan.app.settings.up import UpSettings
from sampan.app.storage.refused_start import nothing_left_if_refused
from sampan.core.clock import utc_now
from sampan.server.tls.sni import CertKey


def announced(line: str) -> None:
    raise AssertionError(f"started: {line}")


@pytest.mark.parametrize(
    "option", ["admission_control_config_file", "encryption_provider_config", "tracing_config_file", "client_ca_file"]
)
def test_a_start_with_garbage_names_the_option_and_leaves_nothing(tmp_path: Path, option: str) -> None:
    garbage = tmp_path / "g"
    garbage.write_text("garbage: [")
    settings = with_file(UpSettings(data=tmp_path / "data", port=0), option, garbage)
    with pytest.raises(StartError) as caught:
        up(settings, announced)
    assert str(caught.value).startswith(f"--{option.replace('_', '-')}: ")
    assert str(garbage) in str(caught.value)
    assert list((tmp_path / "data").iterdir()) == []


def with_file(settings: UpSettings, option: str, file: Path) -> UpSettings:
    """Set a field of the settings, or of settings in them."""
    found: Any = settings
    if hasattr(settings, option):
        return cast("UpSettings", replace(found, **{option: file}))
    for name in settings.__dataclass_fields__:
        part: Any = getattr(settings, name)
        for field in (option, option.removesuffix("_file")):
            if field in getattr(part, "__dataclass_fields__", ()):
                return cast("UpSettings", replace(found, **{name: replace(part, **{field: file})}))
    raise AssertionError(option)


def refuse(directory: Path, *, is_new: bool, accepts: bool = False) -> None:
    """Refuse a start that has written a database."""
    with nothing_left_if_refused(directory, is_new=is_new) as accept:
        if accepts:
            accept()
        (directory / "state.db").write_text("x")
        raise StartError("no")


@pytest.mark.parametrize(
    ("before", "is_new", "accepts", "left"),
    [
        ("lock", True, False, False),
        ("kept", False, False, True),
        ("another server's", True, False, True),
        ("lock", True, True, True),
    ],
    ids=["new", "not empty", "written before the lock", "accepted"],
)
def test_only_a_new_directory_is_emptied(tmp_path: Path, before: str, is_new: bool, accepts: bool, left: bool) -> None:
    (tmp_path / before).touch()
    with pytest.raises(StartError):
        refuse(tmp_path, is_new=is_new, accepts=accepts)
    assert (tmp_path / "state.db").exists() is left
    assert (tmp_path / before).exists() is left


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/x/g: yaml: line 1", "--client-ca-file: /x/g: yaml: line 1"),
        ("--tls-cert-file: /x/g is bad", "--tls-cert-file: /x/g is bad"),
        ("/x/gg: another file", "/x/gg: another file"),
    ],
)
def test_an_error_about_a_file_names_its_option(text: str, named: str) -> None:
    assert naming_option(with_file(UpSettings(), "client_ca_file", Path("/x/g")), text) == named


def test_files_of_server_names_are_read_before_the_start(tmp_path: Path) -> None:
    settings = UpSettings(tls_sni_cert_keys=(CertKey(tmp_path / "crt", tmp_path / "key"),))
    with pytest.raises(StartError, match=r"^--tls-sni-cert-key: cannot read "):
        check_input_files(settings, utc_now())
