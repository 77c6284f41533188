"""Path of a proxied request at the upstream."""

from sampan.server.request import RequestInfo


def path_behind(raw_path: str, info: RequestInfo) -> str:
    """Return the part of `raw_path` after `…/proxy`, encoded as the client sent it. It is empty or begins with a slash.

    `info` is parsed from the decoded path, so encoded slashes count as slashes here too. The request is authorized and
    forwarded with the path cut at the same place.

    Dot segments are resolved here, because the upstream might resolve them. They cannot leave the root.
    """
    slashes = info.path.strip("/").count("/") - len(info.parts) + 4
    at = _skip_slashes(raw_path)
    for _ in range(slashes - 1):
        at = _next_slash(raw_path, at) + _slash_length(raw_path, _next_slash(raw_path, at))
    at = _next_slash(raw_path, at)
    tail = raw_path[at:]
    if not tail:
        return ""
    return without_dots("/" + tail[_skip_slashes(tail) :])


def without_dots(path: str) -> str:
    """Return an encoded path without `.` and `..`, even if their dots are encoded. It begins with exactly one slash."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for index, segment in enumerate(segments):
        plain = segment.lower().replace("%2e", ".")
        last = index == len(segments) - 1
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
            continue
        if last:
            kept.append("")
    return "/" + "/".join(kept).lstrip("/")


def _skip_slashes(path: str) -> int:
    at = 0
    while length := _slash_length(path, at):
        at += length
    return at


def _next_slash(path: str, at: int) -> int:
    """Return the index of the next slash, plain or encoded, or that of the end of the path."""
    found = [index for index in (path.find("/", at), path.find("%2F", at), path.find("%2f", at)) if index >= 0]
    return min(found, default=len(path))


def _slash_length(path: str, at: int) -> int:
    if path.startswith("/", at):
        return 1
    return 3 if path[at : at + 3].lower() == "%2f" else 0
