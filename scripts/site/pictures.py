"""Sizes of pictures, so that a page keeps its layout while they load."""

import posixpath
import re
from collections.abc import Mapping
from typing import Final

from scripts.site.page import Page
from scripts.site.places import ROOT

_SVG: Final = re.compile(r"<svg[^>]*\swidth=\"(\d+)[^\"]*\"[^>]*\sheight=\"(\d+)")


def size_of(page: Page, address: str, drawn: Mapping[str, str]) -> str:
    """Return the attributes `width` and `height` of a picture; empty if its file does not name them."""
    source = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), address))
    file = ROOT / source
    text = drawn.get(source) or (file.read_text() if file.suffix == ".svg" and file.is_file() else "")
    found = _SVG.search(text[:1000])
    return f' width="{found[1]}" height="{found[2]}"' if found else ""
