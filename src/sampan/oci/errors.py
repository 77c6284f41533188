"""Errors of images and registries."""


class OciError(Exception):
    """An image cannot be read, built or transferred. The text is one line with the cause and, if known, the remedy."""


class RegistryError(OciError):
    """A registry refused a request, or was unreachable. `status`: the HTTP status; 0 if there was no response."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
