"""The Kubernetes version that Sampan implements: the data files, the rules and what the server reports about itself.

The build reads the version from this file. `docs/moving-to-the-next-minor.md` describes how to change it.
"""

from typing import Final

KUBERNETES_VERSION: Final = "1.36.0"
MAJOR, MINOR, PATCH = KUBERNETES_VERSION.split(".")
