"""Options of public functions are named parameters: `help` prints them, and a misspelt one is an error."""

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from sampan import client, informer, operator, resource
from sampan.operator import Builder, ControllerOptions, webhook
from sampan.operator.webhook import Hook, HookKind
from tests.operator.cluster import CONFIG_MAPS

KEYWORDS_OF_A_SCHEMA = {"schema_part"}


def functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in module.__all__:
        public = getattr(module, name)
        if inspect.isfunction(public):
            yield name, public
        elif inspect.isclass(public) and public.__module__.startswith("sampan."):
            for method, value in inspect.getmembers(public, inspect.isfunction):
                if not method.startswith("_") and value.__module__.startswith("sampan."):
                    yield f"{name}.{method}", value


@pytest.mark.parametrize("module", [client, informer, operator, resource, webhook], ids=lambda module: module.__name__)
def test_no_public_function_hides_its_options(module: ModuleType) -> None:
    hidden = [
        name
        for name, function in functions(module)
        if any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values())
    ]
    assert set(hidden) <= KEYWORDS_OF_A_SCHEMA


def test_a_builder_takes_every_option_of_a_controller() -> None:
    options = inspect.signature(ControllerOptions).parameters
    given = inspect.signature(Builder.with_options).parameters
    assert {name: (each.annotation, each.default) for name, each in options.items()} == {
        name: (each.annotation, each.default) for name, each in given.items() if name != "self"
    }


def test_a_misspelt_option_of_a_webhook_is_an_error() -> None:
    options: Any = {"failure_polcy": "Ignore"}
    with pytest.raises(TypeError, match="unknown options failure_polcy; there are operations, "):
        Hook(HookKind.VALIDATING, CONFIG_MAPS, options)
