"""`differences`: the rights that a project's code declares, compared with those that its tests needed."""

from collections.abc import Iterable
from typing import Final

from sampan.operator.rights import Right
from sampan.project.bundle.loaded import load_operator
from sampan.project.bundle.settings import bundle_settings
from sampan.project.pyproject import Settings
from sampan.project.running.rights import rights_of
from sampan.testing.rights.privileges import Privileges, rights_in, words

_NO_IMAGE: Final = "localhost/none"
"""The image has no effect on rights."""

Triple = tuple[str, str, str]


def differences(project: Settings, needed: Iterable[Privileges]) -> list[str]:
    """Return the rights that tests needed and the code does not declare (`+`), and those that no test needed (`-`).

    Rights of the process itself are not missed: leader election, metrics and webhooks do not run in most tests. Raises
    `ProjectError`.
    """
    operator = load_operator(bundle_settings(project, {"image": _NO_IMAGE}))
    manager = operator.manager
    parts = [manager.elector, *manager.runnables]
    process = _triples(right for part in parts for right in getattr(part, "rights", list)())
    extras = rights_in({"rules": list(project.rbac)})
    declared = _triples(rights_of(manager, operator.code.kinds)) | extras
    used = {right for each in needed for right in each.needed}
    more = [f"+ {words(right)}" for right in sorted(used - declared)]
    return [*more, *(f"- {words(right)}" for right in sorted(declared - process - used))]


def _triples(rights: Iterable[Right]) -> set[Triple]:
    return {(right.group, right.resource, right.verb) for right in rights}
