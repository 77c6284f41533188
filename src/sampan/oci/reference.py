"""`Reference`: the name of an image, such as `registry.example.com:5000/team/boats:1.2@sha256:…`.

Source: distribution reference/regexp.go and normalize.go (v3): names without a host are Docker Hub's.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from sampan.oci.errors import OciError

DOCKER_HUB: Final = "docker.io"
_LENGTH_MAX: Final = 255
_HOST = r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9-]+)*|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_match = re.compile(
    rf"(?:(?P<host>{_HOST})/)?(?P<path>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>[\w][\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
).fullmatch


@dataclass(frozen=True, slots=True)
class Reference:
    """Name of an image. A digest wins over a tag."""

    host: str
    """Registry with its port; `docker.io` for Docker Hub."""
    repository: str
    tag: str = ""
    digest: str = ""

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Return the reference in a text. Raises `OciError`."""
        found = _match(text) if len(text) <= _LENGTH_MAX + 200 else None
        if found is None:
            raise OciError(f"{text!r} is not the name of an image: expected host/repository:tag, in lower case")
        host, path = found["host"] or "", found["path"]
        # The first part is a host only if it can be no part of a repository's name.
        if host and not (":" in host or "." in host or host == "localhost" or host.startswith("[")):
            host, path = "", f"{host}/{path}"
        host = host or DOCKER_HUB
        if host in ("index.docker.io", "registry-1.docker.io"):
            host = DOCKER_HUB
        if host == DOCKER_HUB and "/" not in path:
            path = f"library/{path}"
        if len(path) > _LENGTH_MAX:
            raise OciError(f"the repository {path[:40]!r}… has over {_LENGTH_MAX} characters")
        return cls(host, path, found["tag"] or ("" if found["digest"] else "latest"), found["digest"] or "")

    @property
    def target(self) -> str:
        """Digest or tag in the path of a request."""
        return self.digest or self.tag

    def at(self, digest: str) -> "Reference":
        """Return a reference that names content by its digest, so that it cannot change."""
        return replace(self, digest=digest)

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.host}/{self.repository}{tag}{f'@{self.digest}' if self.digest else ''}"
