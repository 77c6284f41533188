"""`sampan bundle`: files, their comparison with the project, and errors that write nothing."""

from pathlib import Path

import pytest
import yaml

from tests.project.bundle.conftest import IMAGE, edit
from tests.project.conftest import Sampan, tree


def lines(output: str) -> dict[str, str]:
    return {path: outcome for outcome, path in (line.split() for line in output.splitlines())}


def written(root: Path) -> dict[str, str]:
    return tree(root / "dist")


def test_the_manifests_are_one_file_in_the_order_of_application(fleet: Path, sampan: Sampan) -> None:
    assert lines(sampan("bundle", folder=fleet).output) == {"install.yaml": "create"}
    kinds = [each["kind"] for each in yaml.safe_load_all((fleet / "dist" / "install.yaml").read_text())]
    assert kinds[:3] == ["Namespace", "CustomResourceDefinition", "ServiceAccount"]
    assert kinds.index("ClusterRole") < kinds.index("Deployment")


def test_a_second_run_changes_nothing(fleet: Path, sampan: Sampan) -> None:
    sampan("bundle", "--format", "all", folder=fleet)
    before = written(fleet)
    assert set(lines(sampan("bundle", "--format", "all", folder=fleet).stdout).values()) == {"identical"}
    assert not sampan("bundle", "--format", "all", "--check", folder=fleet).return_value
    assert written(fleet) == before


def test_check_finds_an_edited_file_and_a_change_of_the_code(fleet: Path, sampan: Sampan) -> None:
    sampan("bundle", folder=fleet)
    edit(fleet / "dist" / "install.yaml", ("replicas: 1", "replicas: 7"))
    edited = sampan("bundle", "--check", folder=fleet)
    assert "update  install.yaml" in edited.output
    assert "run sampan bundle" in str(edited.exception)
    sampan("bundle", folder=fleet)
    edit(fleet / "src" / "boats" / "boat" / "v1.py", ("length: Annotated", "width: int = 1\n    length: Annotated"))
    assert sampan("bundle", "--check", folder=fleet).exception is not None
    assert "width:" in sampan("bundle", "--diff", folder=fleet).output
    assert "width" not in (fleet / "dist" / "install.yaml").read_text()


def test_a_file_that_is_no_longer_needed_is_removed_and_one_of_another_program_stays(
    fleet: Path, sampan: Sampan
) -> None:
    edit(fleet / "pyproject.toml", (f'name = "{IMAGE}"', f'name = "{IMAGE}"\n\n[tool.sampan.bundle]\nreplicas = 2'))
    sampan("bundle", "--format", "kustomize", folder=fleet)
    (fleet / "dist" / "kustomize" / "mine.yaml").write_text("mine")
    edit(fleet / "pyproject.toml", ("replicas = 2", "replicas = 1"))
    checked = sampan("bundle", "--format", "kustomize", "--check", folder=fleet)
    assert lines(checked.output)["kustomize/poddisruptionbudget.yaml"] == "remove"
    sampan("bundle", "--format", "kustomize", folder=fleet)
    names = {path.name for path in (fleet / "dist" / "kustomize").iterdir()}
    assert "mine.yaml" in names
    assert "poddisruptionbudget.yaml" not in names


PATCH = '[[tool.sampan.patches]]\nkind = "Deployment"\n'
FAULTS = {
    "a patch that matches nothing": (
        '[[tool.sampan.patches]]\nkind = "StatefulSet"\nmerge = {}\n',
        r"patches\[0\] matches no object: there are .*Deployment/boats",
    ),
    "a patch of a missing field": (
        f'{PATCH}json = [{{op = "remove", path = "/spec/nothing"}}]\n',
        r"patches\[0\] cannot change Deployment/boats",
    ),
    "a patch of the name": (f'{PATCH}merge = {{metadata = {{name = "x"}}}}\n', "may not change the kind or the name"),
    "a patch of an unknown field": (
        f"{PATCH}merge = {{spec = {{replicsa = 1}}}}\n",
        r"unknown field of Deployment/boats: spec.replicsa",
    ),
    "a patch with a wrong type": (f'{PATCH}merge = {{spec = {{replicas = "x"}}}}\n', "makes Deployment/boats invalid"),
    "both forms": (f'{PATCH}merge = {{}}\njson = [{{op = "remove", path = "/spec"}}]\n', "give either merge"),
    "no tables": ("[tool.sampan]\npatches = 1\n", "two brackets"),
    "an unknown setting": ("[tool.sampan.bundle]\nreplica = 1\n", "unknown tool.sampan.bundle.replica"),
    "a wrong namespace": ('[tool.sampan.bundle]\nnamespace = "A b"\n', "namespace must be a DNS label"),
    "a wrong quantity": ('[tool.sampan.bundle]\nresources = {limits = {memory = "much"}}\n', "quantities such as"),
    "a wrong argument": ('[tool.sampan.bundle]\nargs = ["--leader"]\n', "the program refuses its arguments --leader"),
    "a rule with a text": (
        '[tool.sampan]\nrbac = [{resources = "pods", verbs = ["get"]}]\n',
        "resources must be one of",
    ),
    "a rule with another key": (
        '[tool.sampan]\nrbac = [{resource = ["pods"], verbs = []}]\n',
        "resource must be one of",
    ),
    "a wildcard": (
        '[tool.sampan]\nrbac = [{apiGroups = ["*"], resources = ["pods"], verbs = ["get"]}]\n',
        "has a wildcard",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_clear_error_and_nothing_is_written(fleet: Path, sampan: Sampan, name: str) -> None:
    text, message = FAULTS[name]
    file = fleet / "pyproject.toml"
    content = file.read_text()
    if text.startswith("[tool.sampan]\n"):
        content = content.replace("[tool.sampan]\n", text)
    else:
        content += f"\n{text}"
    file.write_text(content)
    failed = sampan("bundle", folder=fleet)
    with pytest.raises(Exception, match=message):
        raise failed.exception or AssertionError(failed.output)
    assert "\n" not in str(failed.exception)
    assert not (fleet / "dist").exists()


def test_a_project_without_an_image_or_an_unknown_format_is_an_error(
    boats: Path, sampan: Sampan, tmp_path: Path
) -> None:
    assert "no image is set" in str(sampan("bundle", folder=boats).exception)
    assert "there is no format 'x'" in str(sampan("bundle", "--image=a/b", "--format=x", folder=boats).exception)
    assert "is in no project" in str(sampan("bundle", folder=tmp_path).exception)
    assert not (boats / "dist").exists()


@pytest.mark.parametrize("record", ['{"kustomize": ["../pyproject.toml"]}', '{"kustomize": "x"}', "["])
def test_a_broken_record_is_an_error_and_removes_nothing(fleet: Path, sampan: Sampan, record: str) -> None:
    (fleet / "dist").mkdir()
    (fleet / "dist" / ".sampan-bundle").write_text(record)
    failed = sampan("bundle", "--format", "kustomize", folder=fleet)
    assert "is broken" in str(failed.exception)
    assert (fleet / "pyproject.toml").exists()
    assert [path.name for path in (fleet / "dist").iterdir()] == [".sampan-bundle"]


def test_broken_code_is_named_with_its_line(fleet: Path, sampan: Sampan) -> None:
    (fleet / "src" / "boats" / "boat" / "reconcile.py").write_text("x = 1 / 0\n")
    assert "reconcile.py:1: ZeroDivisionError" in str(sampan("bundle", folder=fleet).exception)


def test_a_patch_reaches_every_format(fleet: Path, sampan: Sampan) -> None:
    with (fleet / "pyproject.toml").open("a") as file:
        file.write(f'\n{PATCH}merge = {{spec = {{template = {{spec = {{priorityClassName = "high"}}}}}}}}\n')
        file.write(
            f'\n{PATCH}name = "boats"\nmerge = {{spec = {{template = {{spec = {{containers = '
            '[{name = "operator", env = [{name = "A", value = "b"}]}]}}}}\n'
        )
    sampan("bundle", "--format", "all", folder=fleet)
    texts = written(fleet)
    for path in ("install.yaml", "kustomize/deployment.yaml"):
        [deployment] = [each for each in yaml.safe_load_all(texts[path]) if each["kind"] == "Deployment"]
        pod = deployment["spec"]["template"]["spec"]
        assert pod["priorityClassName"] == "high"
        assert [each["env"] for each in pod["containers"]] == [[{"name": "A", "value": "b"}]]
