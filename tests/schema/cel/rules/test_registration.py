"""Validation of rules when their schema is registered."""

from typing import Any

import pytest

from sampan.core.field import Path
from sampan.schema.cel import CelTypeError, Environment
from sampan.schema.cel.rules.registration import cost_error, rule_errors
from sampan.schema.cel.rules.schema_types import schema_type
from sampan.schema.cel.syntax.escaping import escape
from sampan.schema.cel.syntax.field_path import FieldPathError, field_path
from sampan.schema.structural import ListType, Schema, ValidationRule, ValueValidations


def scalar(kind: str, *rules: ValidationRule, **limits: Any) -> Schema:
    return Schema(type=kind, rules=rules, validations=ValueValidations(**limits))


def struct(*rules: ValidationRule, **properties: Schema) -> Schema:
    return Schema(type="object", properties=properties, rules=rules)


def array(items: Schema, *rules: ValidationRule, items_max: int | None = None, **more: Any) -> Schema:
    return Schema(type="array", items=items, rules=rules, validations=ValueValidations(max_items=items_max), **more)


def rule(text: str, message: str = "", **more: Any) -> ValidationRule:
    return ValidationRule(rule=text, message=message, **more)


def errors(schema: Schema) -> list[str]:
    return [str(error) for error in rule_errors(schema, Path("schema"))]


def own(*rules: ValidationRule) -> list[str]:
    """Return the errors of rules of the property `n`, a number of small cost."""
    return errors(struct(n=scalar("integer", *rules)))


PLACE = "schema.properties[n].x-kubernetes-validations[0]"


def test_valid_rules_have_no_errors() -> None:
    good = rule("self > 0", "positive", reason="FieldValueForbidden", message_expression="'is %d'.format([self])")
    assert own(good) == []


def test_rule_that_does_not_compile_is_reported_with_its_path() -> None:
    assert own(rule("self.x")) == [
        f'{PLACE}.rule: Invalid value: {{"Rule":"self.x","Message":"","MessageExpression":"","Reason":null,'
        '"FieldPath":"","OptionalOldSelf":null}: '
        "compilation failed: ERROR: <input>:1:5: type 'int' does not support "
        "field selection\n | self.x\n | ....^"
    ]


FAULTS = [
    (rule(" "), ".rule: Required value: rule is not specified"),
    (rule("self + 1"), "cel expression must evaluate to a bool"),
    (rule("self >"), "compilation failed: ERROR: <input>:1:7: Syntax error: mismatched input '<EOF>'"),
    (rule("int('x') == self"), "program instantiation failed: type conversion error from 'string' to 'int'"),
    (rule("true", " "), '.message: Invalid value: " ": must be non-empty if specified'),
    (rule("true", "a\nb"), ".message: Invalid value: \"a\\nb\": must not contain line breaks"),
    (rule("true &&\n true"), ".message: Required value: message must be specified if rule contains line breaks"),
    (rule("true", message_expression=" "), ".messageExpression: Required value: messageExpression must be non-empty"),
    (rule("true", message_expression="1"), "messageExpression must evaluate to a string"),
    (rule("true", message_expression="x"), "messageExpression compilation failed: ERROR: <input>:1:1: undeclared"),
    (rule("true", reason="Bad"), '.reason: Unsupported value: "Bad": supported values: "FieldValueDuplicate", '),
    (rule("true", field_path=".gone"), '.fieldPath: Invalid value: ".gone": must be a valid path'),
    (rule("true", field_path=" "), '.fieldPath: Invalid value: " ": must be non-empty if specified'),
    (rule("true", field_path=".a\n"), ".fieldPath: Invalid value: \".a\\n\": must not contain line breaks"),
    (rule("true", optional_old_self=True), ".optionalOldSelf: Invalid value: true: may not be set if"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "text"), FAULTS, ids=[row[1][:50] for row in FAULTS])
def test_invalid_rule_is_rejected(bad: ValidationRule, text: str) -> None:
    found = own(bad)
    assert found
    assert found[0].startswith(PLACE)
    assert text in found[0]


UNCORRELATED = [
    (array(scalar("integer", rule("self > oldSelf"), maximum=1)), "schema.properties[l]"),
    (array(scalar("string", rule("self > oldSelf")), list_type=ListType.SET), "schema.properties[l]"),
    (array(array(scalar("integer", rule("self > oldSelf")))), "schema.properties[l]"),
]


@pytest.mark.parametrize(("schema", "within"), UNCORRELATED, ids=["atomic", "set", "nested"])
def test_old_self_is_rejected_where_no_old_value_exists(schema: Schema, within: str) -> None:
    text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {within}"
    assert any(error.endswith(text) for error in errors(struct(l=schema)))


def test_old_self_is_allowed_in_map_lists() -> None:
    entry = struct(name=scalar("string", max_length=9), n=scalar("integer", rule("self > oldSelf")))
    assert errors(struct(l=array(entry, items_max=5, list_type=ListType.MAP, list_map_keys=("name",)))) == []


def test_rule_that_may_cost_too_much_is_rejected() -> None:
    loop = rule("self.all(a, self.all(b, a == b))")
    text = (
        "estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, "
        "maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
    found = errors(struct(l=array(scalar("string"), loop)))
    assert found[0] == f"schema.properties[l].x-kubernetes-validations[0].rule: Forbidden: {text}"
    assert found[-1].startswith(
        "schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds"
    )
    assert errors(struct(l=array(scalar("string", max_length=10), loop, items_max=10))) == []


def test_limits_above_a_rule_limit_its_runs() -> None:
    checked = scalar("string", rule("self.contains('x')"), max_length=100)
    assert errors(struct(l=array(checked, items_max=100))) == []
    assert "estimated rule cost exceeds budget" in errors(struct(l=array(checked)))[0]


def test_many_rules_may_cost_too_much_together() -> None:
    checks = [rule(f"self.all(a, a != 'x{index}')") for index in range(40)]
    found = errors(struct(l=array(scalar("string", max_length=10), *checks)))
    contributed = [error for error in found if "contributed to estimated rule cost total exceeding" in error]
    assert len(contributed) == 4
    assert found[-1].startswith("schema: Forbidden: x-kubernetes-validations estimated rule cost total")


FACTORS = [(10_100_000, "1.010000x"), (25_000_000, "2.5x"), (2_000_000_000, "more than 100x")]


@pytest.mark.parametrize(("cost", "factor"), FACTORS)
def test_excess_of_a_cost_is_shown_as_a_factor(cost: int, factor: str) -> None:
    assert f"exceeds budget by factor of {factor} (" in cost_error("cost", cost, 10_000_000)


TREE = struct(
    **{"a-b": scalar("string"), "spec": struct(n=scalar("integer"))},
    m=Schema(type="object", additional_properties=struct(k=scalar("string"))),
)
PATHS = [(".spec.n", "spec.n"), ("['a-b']", "a-b"), (".m.x.k", "m[x].k"), (".m['x y']['k']", "m[x y].k")]


@pytest.mark.parametrize(("text", "shown"), PATHS)
def test_field_path_is_formatted_for_errors(text: str, shown: str) -> None:
    assert field_path(text, TREE) == shown


@pytest.mark.parametrize(
    "text", ["spec", ".gone", ".spec.n.x", "[spec]", ".spec[", "['spec'", "['a\\q']", ".", ".m[0]"]
)
def test_field_path_that_does_not_exist_is_rejected(text: str) -> None:
    with pytest.raises(FieldPathError):
        field_path(text, TREE)


NAMES = [
    ("plain", "plain"), ("a-b", "a__dash__b"), ("a.b/c", "a__dot__b__slash__c"), ("a__b", "a__underscores__b"),
    ("namespace", "__namespace__"), ("int", "int"), ("1a", None), ("", None), ("a b", None), ("é", None), ("_x", "_x"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "identifier"), NAMES)
def test_property_names_become_identifiers(name: str, identifier: str | None) -> None:
    assert escape(name) == identifier


def _embedded(**metadata: Schema) -> Schema:
    """Return the schema of an object with an embedded object that declares this metadata."""
    text = Schema(type="string")
    meta = Schema(type="object", properties=metadata)
    properties = {"apiVersion": text, "kind": text, "metadata": meta}
    return Schema(
        type="object", properties={"template": Schema(type="object", properties=properties, embedded_resource=True)}
    )


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        (("name", "generateName", "namespace"), ""),
        (("name", "namespace"), "undefined field 'namespace'"),
        (("name", "generateName"), "undefined field 'namespace'"),
    ],
    ids=["both-names", "one-name", "undeclared"],
)
def test_metadata_of_an_embedded_object_has_what_the_schema_declares_with_both_names(
    declared: tuple[str, ...], error: str
) -> None:
    schema = _embedded(**dict.fromkeys(declared, Schema(type="string")))
    kind = schema_type(schema)
    assert kind is not None
    environment = Environment({"self": kind})
    for rule in ("self.template.metadata.namespace == 'a'", "has(self.template.metadata.namespace)"):
        try:
            environment.compile(rule)
            found = ""
        except CelTypeError as failure:
            found = str(failure)
        assert (error in found) if error else found == "", rule
