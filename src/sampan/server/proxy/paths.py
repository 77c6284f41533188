"""The part of a request's path that is meant for the upstream."""

from sampan.server.request import RequestInfo


def path_behind(raw_path: str, info: RequestInfo) -> str:
    """What comes behind `…/proxy` in `raw_path`, encoded as the client sent it; empty, or it begins with a slash.

    `info` has been read from the decoded path, so a slash that the client has encoded counts as one here too: what has
    been authorized and what is passed on are cut at the same place. Dot segments are resolved, as the upstream might do
    it, and cannot leave the root.
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
    """An encoded path without `.` and `..`, also where their dots are encoded; it begins with just one slash."""
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
    """Where the next slash is, plain or encoded; the end of the path if there is none."""
    found = [index for index in (path.find("/", at), path.find("%2F", at), path.find("%2f", at)) if index >= 0]
    return min(found, default=len(path))


def _slash_length(path: str, at: int) -> int:
    if path.startswith("/", at):
        return 1
    return 3 if path[at : at + 3].lower() == "%2f" else 0
