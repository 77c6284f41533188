"""PodTemplates. Source: pkg/registry/core/podtemplate/strategy.go (1.36)."""

from sampan.core.field import FieldError
from sampan.core.object import Object
from sampan.registry.strategies.core.base import CoreStrategy
from sampan.registry.strategies.core.pod_defaults import default_pod_template
from sampan.registry.strategies.core.podprepare import drop_disabled_fields
from sampan.registry.strategies.core.podspec import validate_pod_template_spec
from sampan.registry.strategies.core.podwarnings import template_warnings
from sampan.registry.strategy import Context

Errors = list[FieldError]


class PodTemplateStrategy(CoreStrategy):
    """A pod template as an object of its own."""

    returns_deleted_object = True
    has_generation = True

    def default(self, obj: Object) -> None:
        default_pod_template(obj.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        drop_disabled_fields(obj["template"].get("spec") or {}, None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        drop_disabled_fields(obj["template"].get("spec") or {}, (old.get("template") or {}).get("spec"))

    def check(self, obj: Object, errors: Errors) -> None:
        errors.extend(validate_pod_template_spec(obj["template"]))

    def check_update(self, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_pod_template_spec(obj["template"], old_template=old.get("template")))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        return template_warnings(obj["template"])

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        if obj["metadata"].get("generation") == old["metadata"].get("generation"):
            return []
        return template_warnings(obj["template"])
