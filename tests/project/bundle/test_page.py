"""docs/projects.md: its settings exist, and its blocks about `sampan bundle` work together."""

import re
import tomllib
from pathlib import Path

from sampan.project.bundle.settings import KEYS
from tests.project.bundle.conftest import edit
from tests.project.bundle.installed import found_in

PAGE = (Path(__file__).parents[3] / "docs" / "projects.md").read_text()
SECTION = PAGE[PAGE.index("## sampan bundle") :]
TABLE = SECTION[SECTION.index("| setting in `[tool.sampan.bundle]`") :].partition("\n\n")[0]
BLOCKS = re.findall(r"^```toml\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


def test_the_page_names_each_setting() -> None:
    cells = [row.split(" | ")[0] for row in TABLE.splitlines()[2:]]
    named = set(re.findall(r"`([a-z-]+)", " ".join(cells))) | set(re.findall(r"`([a-z-]+) = ", TABLE))
    assert named == KEYS


def test_the_blocks_of_the_page_work_together(fleet: Path) -> None:
    rbac, patches = (next(block for block in BLOCKS if word in block) for word in ("rbac", "patches"))
    assert any("[tool.sampan.image]" in block for block in BLOCKS)
    assert tomllib.loads(rbac)
    edit(fleet / "pyproject.toml", ("[tool.sampan]\n", rbac))
    with (fleet / "pyproject.toml").open("a") as file:
        file.write(f"\n{patches}")
    found = found_in(fleet)
    [deployment] = found.of_kind("Deployment")
    assert deployment["spec"]["template"]["metadata"]["labels"]["team"] == "harbour"
    [metrics] = found.of_kind("Service")
    assert metrics["metadata"]["annotations"] == {"example.com/scrape": "yes"}
    [role, *_] = found.of_kind("ClusterRole")
    assert {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]} in role["rules"]
