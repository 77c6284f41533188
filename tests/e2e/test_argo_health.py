"""The health check for Argo CD, in the Lua that Argo CD uses."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sampan.project.bundle.health import LUA
from tests.e2e.go_build import build
from tests.project.bundle.health import GENERATION, health_of

pytestmark = pytest.mark.e2e

SOURCE = Path(__file__).parent / "lua"
NUMBER = 2_000


def some_object(chance: random.Random) -> dict[str, Any]:
    """Return an object with any status."""

    def generation() -> dict[str, Any]:
        return chance.choice([{}, {"observedGeneration": GENERATION - 1}, {"observedGeneration": GENERATION}])

    types = chance.sample(["Ready", "Stalled", "Degraded", "Progressing"], chance.randrange(5))
    conditions = [
        {"type": type, "status": chance.choice(["True", "False", "Unknown"]), "reason": "Reason", **generation()}
        for type in types
    ]
    forms: list[dict[str, Any]] = [{}, {"status": {}}, {"status": {**generation(), "conditions": conditions}}]
    status = chance.choice(forms)
    return {"metadata": {"name": "a", "generation": GENERATION}, **status}


def test_argo_cd_sees_the_health_of_an_object(tmp_path: Path) -> None:
    program = build(SOURCE, tmp_path / "lua", "build", ".")
    (tmp_path / "health.lua").write_text(LUA)
    chance = random.Random(5)
    objects = [some_object(chance) for _ in range(NUMBER)]
    done = subprocess.run(
        [program, tmp_path / "health.lua"],
        input="".join(f"{json.dumps(each)}\n" for each in objects),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [health_of(each) for each in objects]
    assert set(done.stdout.split()) == {"Healthy", "Degraded", "Progressing"}
