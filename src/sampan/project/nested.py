"""Projects in a folder of a larger repository."""

from pathlib import Path
from typing import Final

_FILES: Final = {"github": ".github/workflows/ci.yml", "gitlab": ".gitlab-ci.yml"}


def unread_ci(root: Path, ci: str) -> str:
    """Return where the file for CI of a project has to go if its host does not read it there; else an empty text."""
    repository = next((each for each in root.parents if (each / ".git").exists()), None)
    if ci not in _FILES or repository is None or (root / ".git").exists():
        return ""
    place = root.relative_to(repository).as_posix()
    if ci == "gitlab":
        to = f"include {place}/{_FILES[ci]} in {repository}/.gitlab-ci.yml, and begin its scripts with cd {place}"
        return f"GitLab reads only the file of the repository: {to}"
    to = f"move {_FILES[ci]} to {repository}/.github/workflows/{root.name}.yml"
    return (
        f"GitHub reads workflows only in the folder of the repository: {to}, and add to it: "
        f"defaults: {{run: {{working-directory: {place}}}}}"
    )
