"""`check_image_name`: rejects malformed image names before a runtime is called.

Source: distribution reference/regexp.go; kubelet pkg/kubelet/images/image_manager.go (1.36) for the message.
"""

import re
from typing import Final

from sampan.node.runtime import ImageError

_is_name: Final = re.compile(
    r"(?P<repository>[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+|[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)"
    r"(:(?P<tag>\w[\w.-]{0,127}))?(@(?P<digest>[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?"
).fullmatch


def check_image_name(name: str) -> re.Match[str]:
    """Return the parts of a name: repository, tag, digest. Raises `ImageError`."""
    match = _is_name(name)
    if match is None:
        message = f'Failed to apply default image tag "{name}": couldn\'t parse image name "{name}"'
        raise ImageError("InvalidImageName", f"{message}: invalid reference format")
    return match
