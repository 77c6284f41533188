"""Files of the webhooks of a kind, and of the conversion between its versions."""

from collections.abc import Mapping
from typing import Any

from sampan.project.fields import parse_fields
from sampan.project.names import article, module_of, several, words_of
from sampan.project.templates.kind import object_text, types_text
from sampan.project.templates.text import Files, FileText


def webhook_files(inputs: Mapping[str, Any]) -> Files:
    """Return the files. `inputs`: those of the kind, defaulting, validation."""
    module, many = module_of(inputs["kind"]), several(inputs["kind"])
    folder = f"src/{inputs['package']}/{module}"
    return {
        f"{folder}/webhook.py": FileText(_webhook(inputs), f"completes and checks {many} when they are written"),
        f"tests/test_{module}_webhook.py": FileText(_webhook_test(inputs), f"tests of the webhooks of {many}"),
        **_server(inputs),
    }


def conversion_files(inputs: Mapping[str, Any]) -> Files:
    """Return the files. `inputs`: those of the kind in its old version, and `to`, the new version."""
    module, many = module_of(inputs["kind"]), several(inputs["kind"])
    folder, to = f"src/{inputs['package']}/{module}", inputs["to"]
    types = types_text({**inputs, "version": to}, parse_fields(inputs["fields"]), stored=False)
    return {
        f"{folder}/{to}.py": FileText(types, f"the kind {inputs['kind']} in version {to}"),
        f"{folder}/conversion.py": FileText(_conversion(inputs), f"converts {many} between their versions"),
        f"tests/test_{module}_conversion.py": FileText(_conversion_test(inputs), f"round trip of {many}"),
        **_server(inputs),
    }


def _server(inputs: Mapping[str, Any]) -> Files:
    """Return the package with the webhook server, which all kinds share."""
    package = inputs["package"]
    name = package.replace("_", "-")
    text = f'''\
"""The webhook server of the operator."""

from sampan.operator import Manager, add_parts
from sampan.operator.webhook import SecretStore, WebhookOptions, WebhookServer

import {package}


def set_up(manager: Manager) -> None:
    """Serve the webhooks of all kinds: of each module with a function `set_up_webhooks`."""
    store = SecretStore(manager.client.direct, "default", "{name}-webhook")
    webhooks = WebhookServer(manager, store, WebhookOptions(ensure_configurations="{name}"))
    add_parts(webhooks, {package}, "set_up_webhooks")
'''
    return {f"src/{package}/webhooks/__init__.py": FileText(text, "serves the webhooks of all kinds")}


def _webhook(inputs: Mapping[str, Any]) -> str:
    package, kind, version = inputs["package"], inputs["kind"], inputs["version"]
    module = module_of(kind)
    one = module.rstrip("_")
    default = f'''

def fill_in({one}: {kind}) -> None:
    """Set in a new or changed object what its user has left out."""
'''
    check = f'''

def check(new: {kind}, old: {kind} | None) -> Findings:
    """Return errors, such as `invalid(Path("spec", "a"), 1, "must be 2")` of `sampan.core.field`, or warnings as texts.

    `old` is None for a new object.
    """
    return []
'''
    lines = []
    if inputs["defaulting"]:
        lines.append(f"    webhooks.mutating({kind})(fill_in)\n")
    if inputs["validation"]:
        lines.append(f"    webhooks.validating({kind})(check)\n")
    names = "Findings, WebhookServer" if inputs["validation"] else "WebhookServer"
    return f'''\
"""Webhooks of {several(kind)}."""

from sampan.operator.webhook import {names}

from {package}.{module}.{version} import {kind}
{default if inputs["defaulting"] else ""}{check if inputs["validation"] else ""}

def set_up_webhooks(webhooks: WebhookServer) -> None:
    """Register the webhooks."""
{"".join(lines)}'''


def _webhook_test(inputs: Mapping[str, Any]) -> str:
    package, kind, version = inputs["package"], inputs["kind"], inputs["version"]
    module, what = module_of(kind), article(words_of(kind)).replace(" ", "_")
    constant, sample = object_text(inputs)
    names = [name for name, used in (("check", "validation"), ("fill_in", "defaulting")) if inputs[used]]
    tests = ""
    if inputs["defaulting"]:
        tests += f"""

def test_{what}_that_is_complete_stays_as_it_is() -> None:
    completed = deepcopy({constant})
    fill_in(completed)
    assert completed == {constant}
"""
    if inputs["validation"]:
        tests += f"""

def test_{what}_that_is_valid_has_no_findings() -> None:
    assert not check({constant}, None)
"""
    copy = "from copy import deepcopy\n\n" if inputs["defaulting"] else ""
    return f'''\
"""Tests of the webhooks of {several(kind)}."""

{copy}from sampan.resource import ObjectMeta

from {package}.{module}.{version} import {kind}, {kind}Spec
from {package}.{module}.webhook import {", ".join(names)}

{sample}
{tests}'''


def _conversion(inputs: Mapping[str, Any]) -> str:
    package, kind, module = inputs["package"], inputs["kind"], module_of(inputs["kind"])
    old, new = inputs["version"], inputs["to"]
    return f'''\
"""Conversion of {several(kind)} between {old} and {new}."""

from sampan.operator.webhook import WebhookServer

from {package}.{module} import {", ".join(sorted((old, new)))}


def upgrade(old: {old}.{kind}) -> {new}.{kind}:
    """Return spec and status in {new}. The metadata is copied automatically."""
    raise NotImplementedError("map the fields of {old} to those of {new}")


def downgrade(new: {new}.{kind}) -> {old}.{kind}:
    """Return spec and status in {old}. Nothing may be lost: a client that reads {old} writes it back."""
    raise NotImplementedError("map the fields of {new} to those of {old}")


def set_up_webhooks(webhooks: WebhookServer) -> None:
    """Register the conversion; all versions convert through {new}."""
    conversion = webhooks.conversion({new}.{kind})
    conversion.to_hub({old}.{kind})(upgrade)
    conversion.from_hub({old}.{kind})(downgrade)
'''


def _conversion_test(inputs: Mapping[str, Any]) -> str:
    package, kind, module = inputs["package"], inputs["kind"], module_of(inputs["kind"])
    what = article(words_of(kind)).replace(" ", "_")
    constant, sample = object_text(inputs)
    return f'''\
"""Round trip of {several(kind)} between {inputs["version"]} and {inputs["to"]}."""

from sampan.resource import ObjectMeta

from {package}.{module}.conversion import downgrade, upgrade
from {package}.{module}.{inputs["version"]} import {kind}, {kind}Spec, {kind}Status

{sample}
{constant}.status = {kind}Status(observed_generation=1)


def test_{what}_survives_the_way_to_{inputs["to"]}_and_back() -> None:
    returned = downgrade(upgrade({constant}))
    assert (returned.spec, returned.status) == ({constant}.spec, {constant}.status)
'''
