"""Sizes of pictures, so that a page keeps its layout while they load."""

import posixpath
import re
from typing import Final

from scripts.site.page import Page
from scripts.site.places import ROOT

_SVG: Final = re.compile(r"<svg[^>]*\swidth=\"(\d+)[^\"]*\"[^>]*\sheight=\"(\d+)")


def size_of(page: Page, address: str) -> str:
    """Return the attributes `width` and `height` of a picture; empty if its file does not name them."""
    file = ROOT / posixpath.normpath(posixpath.join(posixpath.dirname(page.source), address))
    if file.suffix != ".svg" or not file.is_file():
        return ""
    found = _SVG.search(file.read_text()[:1000])
    return f' width="{found[1]}" height="{found[2]}"' if found else ""
