"""`rewrite_links`: change the URLs in an HTML document. All other bytes stay unchanged.

It makes one pass, in linear time for any document.

Source: apimachinery pkg/util/proxy/transport.go atomsToAttrs (1.36).
"""

import html
import re
from collections.abc import Callable

_ATTRIBUTES = {
    "a": {"href"},
    "applet": {"codebase"},
    "area": {"href"},
    "audio": {"src"},
    "base": {"href"},
    "blockquote": {"cite"},
    "body": {"background"},
    "button": {"formaction"},
    "command": {"icon"},
    "del": {"cite"},
    "embed": {"src"},
    "form": {"action"},
    "frame": {"longdesc", "src"},
    "head": {"profile"},
    "html": {"manifest"},
    "iframe": {"longdesc", "src"},
    "img": {"longdesc", "src", "usemap"},
    "input": {"src", "usemap", "formaction"},
    "ins": {"cite"},
    "link": {"href"},
    "object": {"classid", "codebase", "data", "usemap"},
    "q": {"cite"},
    "script": {"src"},
    "source": {"src"},
    "video": {"poster", "src"},
}
"""Attributes with URLs, for each element."""
_RAW = frozenset({"script", "style", "textarea", "title", "xmp", "noembed", "noframes"})
"""Elements whose content is text, even if it looks like markup."""
_TAG = re.compile(rb"""<([A-Za-z][A-Za-z0-9]*+)(?:[^"'>]++|"[^"]*+"|'[^']*+')*+>""")
_ATTRIBUTE = re.compile(rb"""([^\s"'>/=]++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""")


def rewrite_links(document: bytes, url: Callable[[str], str]) -> bytes:
    """Return the document with `url` applied to every attribute that is a URL."""
    pieces: list[bytes] = []
    at = 0
    while (start := document.find(b"<", at)) >= 0:
        pieces.append(document[at:start])
        end, piece = _next(document, start, url)
        pieces.append(piece)
        at = end
    pieces.append(document[at:])
    return b"".join(pieces)


def _next(document: bytes, start: int, url: Callable[[str], str]) -> tuple[int, bytes]:
    """Return the end of the markup at the `<` at `start`, and its replacement."""
    if document.startswith(b"<!--", start):
        end = _behind(document, b"-->", start + 4)
        return end, document[start:end]
    if not document[start + 1 : start + 2].isalpha():
        return start + 1, b"<"
    tag = _TAG.match(document, start)
    if tag is None:  # the tag has no end, so the rest is not markup
        return len(document), document[start:]
    name = tag[1].decode().lower()
    piece = _tag(tag[0], _ATTRIBUTES[name], url) if name in _ATTRIBUTES else tag[0]
    end = tag.end()
    if name in _RAW:
        closing = re.compile(rb"</" + tag[1], re.IGNORECASE).search(document, end)
        behind = closing.start() if closing is not None else len(document)
        return behind, piece + document[end:behind]
    return end, piece


def _behind(document: bytes, mark: bytes, start: int) -> int:
    end = document.find(mark, start)
    return len(document) if end < 0 else end + len(mark)


def _tag(tag: bytes, names: set[str], url: Callable[[str], str]) -> bytes:
    def attribute(match: re.Match[bytes]) -> bytes:
        if match[1].decode("latin-1").lower() not in names:
            return match[0]
        quoted = match[2]
        value = html.unescape((quoted[1:-1] if quoted[:1] in (b'"', b"'") else quoted).decode("latin-1"))
        changed = url(value)
        if changed == value:
            return match[0]
        return match[1] + b'="' + html.escape(changed).encode("latin-1", "xmlcharrefreplace") + b'"'

    return _ATTRIBUTE.sub(attribute, tag)
