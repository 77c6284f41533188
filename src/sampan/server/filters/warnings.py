"""`Warning` headers for the warnings of a request. kubectl prints them.

Source: apiserver pkg/endpoints/filters/warning.go, apimachinery pkg/util/net/http.go (1.36).
"""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

from sampan.server.filters.hook import HandlerHook
from sampan.server.request import Request, Response

TOTAL_CHARACTERS_MAX = 4096
"""Maximum total length. If the texts are longer, each is truncated."""
TRUNCATED_CHARACTERS = 256
TEXTS_MAX = 4096
"""Maximum number of texts. More cannot fit into the headers, even with one character each."""


def warnings_hook() -> HandlerHook:
    """Return a hook that adds `request.warnings` to the response."""

    def after(request: Request, response: Response) -> None:
        if request.warnings:
            response.headers += [(b"Warning", text.encode()) for text in warning_headers(request.warnings)]

    return HandlerHook(after=after)


def warning_headers(texts: Sequence[str]) -> list[str]:
    """Return the header values, without duplicates and texts with control characters, up to the maximum length."""
    unique = [t for t in dict.fromkeys(islice(texts, TEXTS_MAX)) if t and not _has_control(t[:TOTAL_CHARACTERS_MAX])]
    if sum(len(t) for t in unique) > TOTAL_CHARACTERS_MAX:
        unique = list(_truncated(unique))
    return [f"299 - {_quoted(t)}" for t in unique]


def _truncated(texts: Iterable[str]) -> Iterable[str]:
    written = 0
    for text in texts:
        if written >= TOTAL_CHARACTERS_MAX:
            return
        short = text[:TRUNCATED_CHARACTERS]
        written += len(short)
        yield short


def _has_control(text: str) -> bool:
    return any(unicodedata.category(c) == "Cc" for c in text)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
