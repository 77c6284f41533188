"""The commands of README work with the wheel that is built from this checkout."""

from pathlib import Path

import pytest
from scripts.install.first_minutes import Step, first_minutes, pattern_of, steps_of


def test_every_step_of_the_readme_prints_what_it_states(tmp_path: Path) -> None:
    ran = first_minutes(tmp_path, reuse=True)
    assert any(command.endswith("get networks") for command in ran)


def test_comments_below_a_command_are_its_output() -> None:
    readme = "Text:\n\n    make up   # start it\n    kubectl get pods\n    # NAME   AGE\n    # …\n"
    assert steps_of(readme) == [Step("make up"), Step("kubectl get pods", ("NAME   AGE", "…"))]


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("NAME   STATUS    AGE\nweb-65b8c45db6-mmb9x   Running   12s\nweb-a   x\n", True),
        ("NAME   STATUS    AGE\nweb-65b8c45db6-mmb9x   Pending   12s\n", False),
        ("NAME   STATUS    AGE\n", False),
    ],
    ids=["other names and ages", "another status", "no rows"],
)
def test_an_output_is_the_same_if_only_names_and_ages_differ(printed: str, same: bool) -> None:
    lines = ("NAME                   STATUS    AGE", "web-7957885594-jpq94   Running   4s", "…")
    assert bool(pattern_of(lines).fullmatch(printed)) == same
