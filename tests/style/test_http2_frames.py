"""Bytes of an HTTP/2 peer pass through `Inbound`, because h2 checks the length of a frame after its whole payload."""

import re

from tests.style.sources import ROOT, SOURCES, name_of, text_of

IMPORTS_H2 = re.compile(r"^(?:import|from) h2\b", re.MULTILINE)


def test_bytes_for_h2_are_cut_by_inbound() -> None:
    receiving = {
        name_of(path) for path in SOURCES if IMPORTS_H2.search(text := text_of(path)) and ".receive_data(" in text
    }
    assert "src/sampan/server/connections/http2/frames.py" in receiving
    assert {name for name in receiving if "Inbound(" not in text_of(ROOT / name)} == set()
