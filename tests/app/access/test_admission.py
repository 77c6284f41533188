"""From the options of `sampan up` to what is admitted."""

from pathlib import Path

import pytest

from sampan.app.access.admission import admission_settings
from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings


@pytest.mark.parametrize(
    ("controllers", "on"),
    [
        ("*", True),
        ("serviceaccount-controller", True),
        ("*,-serviceaccount-controller", False),
        ("job-controller", False),
        ("", False),
    ],
)
def test_pods_have_accounts_where_a_client_makes_them(controllers: str, *, on: bool) -> None:
    assert admission_settings(UpSettings(controllers=controllers)).is_on("ServiceAccount") is on


def test_pods_have_accounts_where_that_is_requested() -> None:
    settings = UpSettings(controllers="", enable_admission_plugins=("ServiceAccount",))
    assert admission_settings(settings).is_on("ServiceAccount")


def test_nodes_are_restricted_unless_that_is_turned_off() -> None:
    assert admission_settings(UpSettings()).is_on("NodeRestriction")
    assert not admission_settings(UpSettings(disable_admission_plugins=("NodeRestriction",))).is_on("NodeRestriction")


def test_a_name_that_is_unknown_prevents_the_start() -> None:
    with pytest.raises(StartError, match='plugin "ImagePolicy" is unknown'):
        admission_settings(UpSettings(enable_admission_plugins=("ImagePolicy",)))


def _written(directory: Path, text: str) -> UpSettings:
    file = directory / "admission.yaml"
    file.write_text(text)
    return UpSettings(admission_control_config_file=file)


_HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
_TWICE = '{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AdmissionConfiguration","plugins":[],"plugins":[]}'


def test_the_configuration_of_a_plugin_is_inline_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "quota.yaml").write_text("limitedResources: [{resource: pods}]\n")
    text = f"{_HEAD}- {{name: PodSecurity, configuration: {{defaults: {{enforce: baseline}}}}}}\n"
    settings = admission_settings(_written(tmp_path, f"{text}- {{name: ResourceQuota, path: quota.yaml}}\n"))
    assert settings.configurations == {
        "PodSecurity": {"defaults": {"enforce": "baseline"}},
        "ResourceQuota": {"limitedResources": [{"resource": "pods"}]},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("apiVersion: v1\nkind: Other\n", 'no kind "Other" is registered for version "v1"'),
        ("plugins: []\n", "Object 'Kind' is missing in '"),
        (f"{_HEAD}- {{name: Bad}}\nfoo: 1\n", 'strict decoding error: unknown field "foo"'),
        (f"{_HEAD}- {{name: 1}}\n", "json: cannot unmarshal number into Go struct field .*name of type string"),
        ("a: [\n", "cannot read"),
        ("[]\n", "contains no object"),
        (f"{_HEAD}- name: A\n  name: B\n", 'strict decoding error: yaml: .*\n.*key "name" already set in map'),
        (_TWICE, 'strict decoding error: duplicate field "plugins"'),
        (f"{_HEAD}  []\nplugins: []\n", 'strict decoding error: yaml: .*\n.*key "plugins" already set in map'),
        (f"{_HEAD}- {{name: PodSecurity, path: absent.yaml}}\n", "cannot read .*absent.yaml"),
    ],
    ids=["kind", "no kind", "field", "type", "yaml", "list", "name twice", "JSON twice", "list twice", "path"],
)
def test_a_file_that_makes_no_sense_prevents_the_start(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(StartError, match=message):
        admission_settings(_written(tmp_path, text))


def test_configurations_of_disabled_and_unknown_plugins_are_ignored(tmp_path: Path) -> None:
    text = f"{_HEAD}- {{name: EventRateLimit, path: absent.yaml}}\n- {{name: Bad, path: absent.yaml}}\n"
    assert admission_settings(_written(tmp_path, text)).configurations == {}


def test_an_inline_configuration_takes_precedence_over_its_path(tmp_path: Path) -> None:
    text = f"{_HEAD}- {{name: PodSecurity, path: absent.yaml, configuration: {{a: b}}}}\n"
    assert admission_settings(_written(tmp_path, text)).configurations == {"PodSecurity": {"a": "b"}}


def test_a_file_without_kind_may_be_that_of_the_plugins_whose_files_have_none(tmp_path: Path) -> None:
    sent = {"podNodeSelectorPluginConfig": {"a": "b=c"}}
    settings = admission_settings(_written(tmp_path, "podNodeSelectorPluginConfig: {a: b=c}\n"))
    assert settings.configurations == {"PodNodeSelector": sent, "ImagePolicyWebhook": sent}
