"""PodTemplates. Source: pkg/registry/core/podtemplate/strategy.go (1.36)."""

from typing import Final

from sampan.core.field import FieldError
from sampan.core.object import Object
from sampan.registry.columns.cells import EMPTY, NAME, column, container_columns, labels_text
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.defaults import default_pod_template
from sampan.registry.kinds.pod_spec.prepare import drop_disabled_fields
from sampan.registry.kinds.pod_spec.spec import validate_pod_template_spec
from sampan.registry.kinds.pod_spec.warnings import template_warnings
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]


class PodTemplateStrategy(Strategy):
    """Strategy of PodTemplates, which contain a pod template outside a workload."""

    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        default_pod_template(obj.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        drop_disabled_fields(obj["template"].get("spec") or {}, None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        drop_disabled_fields(obj["template"].get("spec") or {}, (old.get("template") or {}).get("spec"))

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        errors.extend(validate_pod_template_spec(obj["template"]))

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        errors.extend(validate_pod_template_spec(obj["template"], old_template=old.get("template")))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        return template_warnings(obj["template"])

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        if obj["metadata"].get("generation") == old["metadata"].get("generation"):
            return []
        return template_warnings(obj["template"])


def _labels_text(obj: Object) -> str:
    return labels_text(obj.get("template", EMPTY).get("metadata", EMPTY).get("labels"))


KINDS: Final = (
    Kind(
        "",
        "podtemplates",
        PodTemplateStrategy(),
        columns=lambda ages: (
            NAME,
            *(column(each.name, each.cell) for each in container_columns("template")),
            column("Pod Labels", _labels_text),
        ),
    ),
)
