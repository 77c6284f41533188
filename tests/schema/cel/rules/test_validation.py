"""Validate objects by the rules of their schema."""

from typing import Any

import pytest

from sampan.core.field import Path
from sampan.schema.cel import Budget
from sampan.schema.cel.rules.validation import Validator
from sampan.schema.structural import UNSET, ListType, MapType, Schema, ValidationRule, ValueValidations


def scalar(kind: str, *rules: ValidationRule, format_: str | None = None, nullable: bool = False) -> Schema:
    return Schema(type=kind, rules=rules, validations=ValueValidations(format=format_), nullable=nullable)


def struct(*rules: ValidationRule, **properties: Schema) -> Schema:
    return Schema(type="object", properties=properties, rules=rules)


def array(items: Schema, *rules: ValidationRule, list_type: ListType | None = None, keys: Any = ()) -> Schema:
    return Schema(type="array", items=items, rules=rules, list_type=list_type, list_map_keys=tuple(keys))


def rule(text: str, message: str = "", **more: Any) -> ValidationRule:
    return ValidationRule(rule=text, message=message, **more)


def errors(schema: Schema, new: Any, old: Any = UNSET, budget: Budget | None = None) -> list[str]:
    return [str(error) for error in Validator(schema).validate(new, old, Path(), budget)]


INTEGER, STRING = scalar("integer"), scalar("string")


def test_passing_rule_has_no_errors() -> None:
    schema = struct(spec=struct(rule("self.low <= self.high"), low=INTEGER, high=INTEGER))
    assert errors(schema, {"spec": {"low": 1, "high": 2}}) == []


def test_failed_rule_of_an_object_is_shown_without_its_value() -> None:
    schema = struct(spec=struct(rule("self.low <= self.high"), low=INTEGER, high=INTEGER))
    expected = ["spec: Invalid value: failed rule: self.low <= self.high"]
    assert errors(schema, {"spec": {"low": 3, "high": 2}}) == expected


def test_a_rule_of_a_scalar_shows_its_value() -> None:
    schema = struct(n=scalar("integer", rule("self > 0", " must be positive ")))
    assert errors(schema, {"n": -1}) == ["n: Invalid value: -1: must be positive"]


def test_evaluation_error_contains_the_type_and_the_rule() -> None:
    schema = struct(spec=struct(rule("self.a == 1"), a=INTEGER))
    assert errors(schema, {"spec": {}}) == [
        'spec: Invalid value: "object": no such key: a evaluating rule: self.a == 1'
    ]


def test_operator_without_overload_has_its_own_message() -> None:
    schema = struct(rule("self.port > 5"), port=Schema(int_or_string=True))
    assert errors(schema, {"port": "http"}) == [
        "<nil>: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, "
        "function or macro signature for rule: self.port > 5"
    ]


REASONS = [
    ("FieldValueInvalid", 's: Invalid value: "a": no'),
    ("FieldValueForbidden", "s: Forbidden: no"),
    ("FieldValueRequired", "s: Required value: no"),
    ("FieldValueDuplicate", 's: Duplicate value: "a"'),
]


@pytest.mark.parametrize(("reason", "text"), REASONS, ids=[row[0] for row in REASONS])
def test_reason_selects_the_kind_of_error(reason: str, text: str) -> None:
    schema = struct(s=scalar("string", rule("self == ''", "no", reason=reason)))
    assert errors(schema, {"s": "a"}) == [text]


def test_field_path_is_added_to_the_path_of_the_error() -> None:
    schema = struct(spec=struct(rule("self.a == 1", "bad", field_path=".a"), a=INTEGER))
    assert errors(schema, {"spec": {"a": 2}}) == ["spec.a: Invalid value: bad"]


MESSAGES = [
    ("'n is ' + string(self.n)", "n is 3"),
    ("' spaced '", "spaced"),
    ("''", "failed rule: self.n == 1"),
    ("'two\\nlines'", "failed rule: self.n == 1"),
    ("string(1 / (self.n - 3))", "failed rule: self.n == 1"),
    ("'" + "x" * 5121 + "'", "failed rule: self.n == 1"),
]


@pytest.mark.parametrize(("expression", "text"), MESSAGES, ids=[row[0][:20] for row in MESSAGES])
def test_message_expression_is_used_if_it_returns_one_line(expression: str, text: str) -> None:
    schema = struct(rule("self.n == 1", message_expression=expression), n=INTEGER)
    assert errors(schema, {"n": 3}) == [f"<nil>: Invalid value: {text}"]


def test_rules_are_found_in_items_values_properties_and_branches() -> None:
    positive = scalar("integer", rule("self > 0", "positive"))
    branch = Schema(properties={"x": Schema(rules=(rule("self > 0", "branch"),))})
    schema = struct(
        items=array(positive),
        values=Schema(type="object", additional_properties=positive),
        deep=struct(deeper=struct(n=positive)),
        both=Schema(type="object", properties={"x": INTEGER}, validations=ValueValidations(all_of=(branch,))),
    )
    new = {"items": [1, 0], "values": {"k": 0}, "deep": {"deeper": {"n": 0}}, "both": {"x": 0}}
    assert errors(schema, new) == [
        "items[1]: Invalid value: 0: positive",
        "values[k]: Invalid value: 0: positive",
        "deep.deeper.n: Invalid value: 0: positive",
        "both.x: Invalid value: 0: branch",
    ]


def test_null_is_not_validated_and_is_absent_for_the_rule_above() -> None:
    schema = struct(rule("!has(self.n)", "above"), n=scalar("integer", rule("false"), nullable=True))
    assert errors(schema, {"n": None}) == []


def test_schema_without_rules_has_no_rules() -> None:
    assert not Validator(struct(spec=struct(n=INTEGER))).has_rules


def test_only_name_and_generate_name_of_the_metadata_are_accessible() -> None:
    schema = struct(rule("self.metadata.name == 'a' && self.kind == 'K' && self.apiVersion == 'v1'", "meta"))
    new = {"apiVersion": "v1", "kind": "K", "metadata": {"name": "b", "labels": {}}}
    assert errors(schema, new) == ["<nil>: Invalid value: meta"]
    new["metadata"] = {"name": "a"}
    assert errors(schema, new) == []


def test_an_embedded_resource_has_metadata() -> None:
    embedded = Schema(type="object", embedded_resource=True, rules=(rule("self.metadata.name == 'a'", "name"),))
    assert errors(struct(template=embedded), {"template": {"metadata": {"name": "b"}}}) == [
        "template: Invalid value: name"
    ]


TIME, LETTERS = scalar("string", format_="date-time"), array(STRING, list_type=ListType.SET)
SLASHED = {"a.b": INTEGER, "c/d": INTEGER}
TIMES = Schema(type="object", additional_properties=TIME)
WHEN = "2020-01-01T00:00:00Z"
VALUES = [
    (struct(rule("self.my__dash__name == 1"), **{"my-name": INTEGER}), {"my-name": 1}),
    (struct(rule("self.__namespace__ == 'a'"), namespace=STRING), {"namespace": "a"}),
    (struct(rule("self.a__dot__b == 1 && self.c__slash__d == 2"), **SLASHED), {"a.b": 1, "c/d": 2}),
    (struct(rule("self.a__underscores__b == 1"), a__b=INTEGER), {"a__b": 1}),
    (struct(rule("self.n == 1.0 && type(self.n) == double"), n=scalar("number")), {"n": 1}),
    (struct(rule("self.t < timestamp('2021-01-01T00:00:00Z')"), t=TIME), {"t": WHEN}),
    (struct(rule("self.t.getDayOfMonth() == 4"), t=scalar("string", format_="date")), {"t": "2020-01-05"}),
    (struct(rule("self.d == duration('90m')"), d=scalar("string", format_="duration")), {"d": "1h30m"}),
    (struct(rule("self.b == b'AB'"), b=scalar("string", format_="byte")), {"b": "QUI="}),
    (struct(rule("self.p == 80"), p=Schema(int_or_string=True)), {"p": 80}),
    (struct(rule("self.p == '80%' && type(self.p) == string"), p=Schema(int_or_string=True)), {"p": "80%"}),
    (struct(rule("self.l == ['b', 'a']"), l=LETTERS), {"l": ["a", "b"]}),
    (struct(rule("self.l + ['c', 'a'] == ['a', 'b', 'c']"), l=LETTERS), {"l": ["a", "b"]}),
    (struct(rule("self.l != ['b', 'a']"), l=array(STRING)), {"l": ["a", "b"]}),
    (struct(rule("self.o.t.getFullYear() == 2020"), o=struct(t=TIME)), {"o": {"t": WHEN}}),
    (struct(rule("self.m['k'].getFullYear() == 2020"), m=TIMES), {"m": {"k": WHEN}}),
    (struct(rule("self.?o.?n.orValue(5) == 5"), o=struct(n=INTEGER)), {"o": {}}),
    (struct(rule("self.?t.orValue(timestamp(0)).getFullYear() == 2020"), t=TIME), {"t": WHEN}),
    (struct(rule("has(self.u)"), u=Schema(type="object", preserve_unknown_fields=True)), {"u": {"any": 1}}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value"), VALUES, ids=[row[0].rules[0].rule for row in VALUES])
def test_values_are_converted_by_their_schema(schema: Schema, value: Any) -> None:
    assert errors(schema, value) == []


ENTRY = {"name": STRING, "n": scalar("integer")}
KEYED = array(struct(**ENTRY), list_type=ListType.MAP, keys=["name"])


def test_map_lists_ignore_order_in_equality_and_merge_by_key() -> None:
    schema = struct(rule("self.l[0] == self.l[1] && self.l[0] + self.l[1] == self.l[0]"), l=array(KEYED))
    one, two = {"name": "x", "n": 1}, {"name": "y", "n": 2}
    assert errors(schema, {"l": [[one, two], [two, one]]}) == []


GROWING = scalar("integer", rule("self >= oldSelf", "shrinks"))


def test_transition_rule_runs_only_on_update() -> None:
    schema = struct(n=GROWING)
    assert errors(schema, {"n": 1}) == []
    assert errors(schema, {"n": 1}, {"n": 2}) == ["n: Invalid value: 1: shrinks"]
    assert errors(schema, {"n": 1}, {}) == []


def test_items_of_map_lists_have_the_old_value_of_their_key() -> None:
    schema = struct(l=array(struct(name=STRING, n=GROWING), list_type=ListType.MAP, keys=["name"]))
    old = {"l": [{"name": "a", "n": 1}, {"name": "b", "n": 5}]}
    new = {"l": [{"name": "b", "n": 2}, {"name": "c", "n": 0}, {"name": "a", "n": 1}]}
    assert errors(schema, new, old) == ["l[0].n: Invalid value: 2: shrinks"]


def test_values_of_maps_have_the_old_value_of_their_key() -> None:
    schema = struct(m=Schema(type="object", additional_properties=GROWING, map_type=MapType.GRANULAR))
    assert errors(schema, {"m": {"a": 1, "b": 0}}, {"m": {"a": 2}}) == ["m[a]: Invalid value: 1: shrinks"]


def test_items_of_other_lists_have_no_old_value() -> None:
    assert errors(struct(l=array(GROWING)), {"l": [1]}, {"l": [2]}) == []


OPTIONAL = rule("oldSelf.hasValue() ? self >= oldSelf.value() : self == 0", "starts at 0", optional_old_self=True)


def test_rule_with_optional_old_self_always_runs() -> None:
    schema = struct(n=scalar("integer", OPTIONAL))
    assert errors(schema, {"n": 1}) == ["n: Invalid value: 1: starts at 0"]
    assert errors(schema, {"n": 0}) == []
    assert errors(schema, {"n": 2}, {"n": 1}) == []


SMALL = scalar("integer", rule("self < 10", "too big"))


def test_errors_in_unchanged_values_are_dropped() -> None:
    schema = struct(a=SMALL, b=SMALL)
    assert errors(schema, {"a": 20, "b": 30}, {"a": 20, "b": 20}) == ["b: Invalid value: 30: too big"]


def test_errors_of_transition_rules_are_not_dropped() -> None:
    schema = struct(n=scalar("integer", rule("self > oldSelf", "must grow")))
    assert errors(schema, {"n": 1}, {"n": 1}) == ["n: Invalid value: 1: must grow"]


def test_errors_of_list_items_are_dropped_if_the_list_is_unchanged() -> None:
    schema = struct(l=array(SMALL))
    assert errors(schema, {"l": [20]}, {"l": [20]}) == []
    assert errors(schema, {"l": [20, 1]}, {"l": [20]}) == ["l[0]: Invalid value: 20: too big"]


def test_errors_of_map_list_items_are_dropped_one_by_one() -> None:
    schema = struct(l=array(struct(name=STRING, n=SMALL), list_type=ListType.MAP, keys=["name"]))
    new = {"l": [{"name": "b", "n": 30}, {"name": "a", "n": 20}]}
    assert errors(schema, new, {"l": [{"name": "a", "n": 20}]}) == ["l[0].n: Invalid value: 30: too big"]


def test_error_in_a_new_field_is_not_dropped() -> None:
    assert errors(struct(n=SMALL), {"n": 20}, {}) == ["n: Invalid value: 20: too big"]


LOOP = "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))"


def test_rule_above_its_cost_limit_stops_the_validation() -> None:
    schema = struct(rule(LOOP), rule("false", "never seen"), l=array(INTEGER))
    assert errors(schema, {"l": list(range(100))}) == [
        "<nil>: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
        f"rules will be run due to call cost exceeds limit for rule: {LOOP}"
    ]


def test_spent_budget_stops_the_validation() -> None:
    schema = struct(a=scalar("integer", rule("self > 0"), rule("self > 1")), b=SMALL)
    budget = Budget(remaining=2)
    assert errors(schema, {"a": 5, "b": 5}, budget=budget) == [
        'a: Invalid value: "integer": validation failed due to running out of cost budget, '
        "no further validation rules will be run"
    ]
    assert budget.remaining < 0


def test_rule_that_does_not_compile_is_an_error_of_every_object() -> None:
    schema = struct(rule("self.gone"), n=INTEGER)
    assert errors(schema, {"n": 1}) == [
        '<nil>: Invalid value: "object": rule compile error: compilation failed: '
        "ERROR: <input>:1:5: undefined field 'gone'\n | self.gone\n | ....^"
    ]
