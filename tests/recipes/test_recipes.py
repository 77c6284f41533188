"""Each recipe of docs/recipes.md works: its blocks are applied to a copy of the repository, where its test passes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recipes.recipe import ROOT, Block, recipes
from tests.user_environment import user_environment

RECIPES = recipes()


def test_the_usual_changes_have_a_recipe() -> None:
    expected = ["a validation rule", "an admission plug-in", "a built-in kind", "a storage engine", "a CLI command"]
    assert list(RECIPES) == [f"Add {change}" for change in expected]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy of the code and the tests, without what recipes do not need."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "e2e"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize("title", RECIPES)
def test_recipe_works(title: str, copy: Path) -> None:
    recipe = RECIPES[title]
    assert recipe.tests, "a recipe has a test"
    new_tests = [block for block in recipe.blocks if block.path in recipe.tests]
    apply(copy, new_tests)
    run(copy, recipe.tests, fails=True)
    apply(copy, [block for block in recipe.blocks if block not in new_tests])
    run(copy, recipe.tests, fails=False)
    if recipe.arguments:
        run(copy, recipe.arguments, fails=False)
    lint(copy, [block.path for block in recipe.blocks])


def apply(copy: Path, blocks: list[Block]) -> None:
    """Apply blocks in their order."""
    for block in blocks:
        block.apply(copy)


def run(copy: Path, arguments: list[str], *, fails: bool) -> None:
    """Run tests in the copy, with the package of the copy."""
    environment = user_environment(PYTHONPATH=str(copy / "src"), PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "--override-ini=addopts="]
    done = subprocess.run(
        [*command, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if fails else 0), done.stdout + done.stderr


def lint(copy: Path, paths: list[str]) -> None:
    """Check the style of the new code."""
    for command in (["check", "--no-cache"], ["format", "--no-cache", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, *paths]
        done = subprocess.run(ruff, cwd=copy, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
