"""One module decides which certificates are trusted."""

import re
from pathlib import Path

import pytest

import sampan

SOURCES = Path(sampan.__file__).parent
ONE_PLACE = SOURCES / "core" / "tls" / "trust.py"
DECIDES = re.compile(
    r"load_verify_locations|load_default_certs|create_default_context|PROTOCOL_TLS_CLIENT|check_hostname\s*=|CERT_NONE"
)


@pytest.mark.parametrize("pattern", ["ssl.create_default_context(cadata=ca)", "context.load_verify_locations(file)"])
def test_the_pattern_finds_decisions(pattern: str) -> None:
    assert DECIDES.search(pattern)


def test_no_other_module_decides_which_certificates_are_trusted() -> None:
    found = {file for file in SOURCES.rglob("*.py") if DECIDES.search(file.read_text())}
    assert found == {ONE_PLACE}
