"""Costs of evaluations, and estimates of maximum costs: the numbers of Kubernetes 1.36."""

from collections.abc import Callable
from typing import Any

import pytest

from sampan.schema.cel import Budget, CelBudgetExceeded, CelRuntimeError, CelType, Environment
from sampan.schema.cel.cost.estimate import estimate
from sampan.schema.cel.rules.schema_types import schema_type
from sampan.schema.cel.types import DYN, INT, list_of
from sampan.schema.cel.types import STRING as STRING_TYPE
from sampan.schema.structural import ListType, Schema, ValueValidations


def scalar(kind: str, format_: str | None = None, length_max: int | None = None) -> Schema:
    return Schema(type=kind, validations=ValueValidations(format=format_, max_length=length_max))


def struct(**properties: Schema) -> Schema:
    return Schema(type="object", properties=properties)


def array(items: Schema, items_max: int | None = None, list_type: ListType | None = None, *keys: str) -> Schema:
    limits = ValueValidations(max_items=items_max)
    return Schema(type="array", items=items, validations=limits, list_type=list_type, list_map_keys=keys)


def mapping(values: Schema, properties_max: int | None = None) -> Schema:
    limits = ValueValidations(max_properties=properties_max)
    return Schema(type="object", additional_properties=values, validations=limits)


INTEGER, STRING, NUMBER, BOOLEAN = (scalar(kind) for kind in ("integer", "string", "number", "boolean"))
ENTRY = struct(k=STRING, v=STRING, w=STRING)
SCHEMA = struct(
    i=INTEGER,
    j=INTEGER,
    s=STRING,
    t=STRING,
    b=scalar("string", "byte"),
    duration=scalar("string", "duration"),
    time=scalar("string", "date-time"),
    ints=array(INTEGER),
    set=array(STRING, None, ListType.SET),
    map=mapping(INTEGER),
    entries=array(ENTRY, None, ListType.MAP, "k"),
    o=struct(p=struct(q=INTEGER)),
    either=Schema(int_or_string=True),
)
DATA: dict[str, Any] = {
    "i": 5,
    "j": 6,
    "s": "Rook takes 👑",
    "t": "Rook takes 👑",
    "b": "QUI=",
    "duration": "1h2m3s4ms",
    "time": "2011-08-18T19:03:37.01+01:00",
    "ints": [1, 2, 3],
    "set": ["a", "b", "c"],
    "map": {"b": 1, "d": 2},
    "entries": [{"k": "a1", "v": "b1"}, {"k": "a2", "v": "b2"}, {"k": "a3", "v": "b3", "w": "z"}],
    "o": {"p": {"q": 1}},
    "either": "25%",
}
ENVIRONMENT = Environment({"self": schema_type(SCHEMA) or DYN})

COSTS = [
    ("self.i < self.j", 5),
    ("self.i == 5", 3),
    ("type(self.i) == int", 4),
    ("double(5) < 10.0", 1),
    ("double(self.i) < 10.0", 4),
    ("self.s == self.t", 6),
    ("self.s.startsWith('Rook')", 4),
    ("!self.s.startsWith('knight')", 5),
    ("self.s.matches('^[^0-9]*$')", 8),
    ("size(self.s) == 12", 4),
    ("self.s.charAt(3) == 'k'", 4),
    ("self.s.indexOf('o') == 1", 4),
    ("self.s.replace(' ', 'x') == 'Rookxtakesx👑'", 7),
    ("self.s.split(' ') == ['Rook', 'takes', '👑']", 6),
    ("self.s.substring(4, 10).trim() == 'takes'", 6),
    ("self.s.lowerAscii() == self.t.lowerAscii()", 10),
    ("'%b %b %b'.format([7, 8, 9]) == '111 1000 1001'", 3),
    ("self.b == b'AB'", 3),
    ("self.duration == duration('1h2m') + duration('3s4ms')", 4),
    ("self.duration.getHours() == 1", 4),
    ("self.time.getDate('01:00') == 18", 4),
    ("self.s in ['Pending', 'Rook takes 👑']", 2),
    ("1 in self.ints", 5),
    ("self.ints[0] in self.ints", 8),
    ("self.ints + self.ints == [1, 2, 3, 1, 2, 3]", 6),
    ("has(self.ints) && has(self.i)", 2),
    ("has(self.o.p.q)", 3),
    ("self.set == ['c', 'b', 'a']", 3),
    ("self.set + ['c', 'd'] == ['a', 'b', 'c', 'd']", 4),
    ("sets.equivalent(self.set, ['a', 'b', 'c'])", 21),
    ("'b' in self.map", 3),
    ("self.map.all(k, self.map[k] > 0)", 17),
    ("!self.map.exists(k, self.map[k] == 3)", 20),
    ("self.map.exists_one(k, self.map[k] == 2)", 14),
    ("size(self.map.filter(k, self.map[k] > 1)) == 1", 26),
    ("self.map.all(k, v, v > 0)", 13),
    ("self.map.transformMap(k, v, v + 1).size() == 2", 15),
    ("self.map.transformMapEntry(k, v, {k + '2': v + 1}).size() == 2", 77),
    ("self.entries.all(m, m.k.startsWith('a'))", 21),
    ("self.entries.exists(m, m.k.endsWith('1'))", 13),
    ("!self.entries.all(m, m.k.endsWith('1'))", 18),
    ("self.entries.exists_one(m, m.k == 'a3')", 15),
    ("self.entries.map(m, m.v).exists(v, v == 'b1')", 55),
    ("self.entries.exists(m, m.w == 'z')", 24),
    ("self.entries.transformList(i, m, m.v).size() == 3", 47),
    ("type(self.either) == int ? self.either == 1 : self.either == '25%'", 7),
    ("self.either != 1", 3),
    ("self.o.?p.q.hasValue()", 5),
    ("!self.?map['absent'].hasValue()", 4),
    ("self.map[?'b'].hasValue()", 4),
    ("!self.map[?'absent'].hasValue()", 4),
    ("!has(self.?map.absent)", 2),
    ("self.map.?absent.orValue(7) == 7", 3),
    ("format.uuid().validate('123e4567-e89b-12d3-a456-426614174000') == optional.none()", 75),
    ("format.date().validate('2021-01-01') == optional.none()", 39),
    ("format.datetime().validate('2021-01-01T00:00:00Z') == optional.none()", 57),
    ("self.either == 1 || self.either == '25%'", 6),
]


@pytest.mark.parametrize(("expression", "cost"), COSTS, ids=[row[0] for row in COSTS])
def test_evaluation_has_the_cost_of_kubernetes(expression: str, cost: int) -> None:
    budget = Budget()
    assert ENVIRONMENT.compile(expression).evaluate({"self": DATA}, budget) is True
    assert Budget().remaining - budget.remaining == cost


Limited = Callable[[int | None], Schema]


def text(length_max: int | None) -> Schema:
    return scalar("string", None, length_max)


def arrays_of(items: Schema) -> Limited:
    return lambda items_max: array(items, items_max)


def maps_of(values: Schema) -> Limited:
    return lambda properties_max: mapping(values, properties_max)


EITHER = Schema(int_or_string=True)
ESTIMATES: list[tuple[Limited, str, int, int, int]] = [
    (arrays_of(NUMBER), "self.all(x, true)", 4718591, 10, 32),
    (arrays_of(STRING), "self.all(x, true)", 3145727, 20, 62),
    (arrays_of(BOOLEAN), "self.all(x, true)", 1887437, 5, 17),
    (arrays_of(array(NUMBER)), "self.all(x, true)", 3145727, 100, 302),
    (maps_of(NUMBER), "self.all(x, true)", 1348169, 10, 32),
    (maps_of(STRING), "self.all(x, true)", 1179647, 3, 11),
    (text, "self.contains('test')", 314574, 10, 5),
    (text, "self.startsWith('test')", 2, 15, 2),
    (text, 'size(self + "hello") > size("hello")', 314578, 4, 7),
    (arrays_of(NUMBER), "self[1] == 0.0", 2, 5000, 2),
    (arrays_of(STRING), "self[1] == self[1]", 314577, 8, 314577),
    (text, 'self.matches("x")', 314574, 50, 22),
    (text, 'self == "x"', 2, 0, 1),
    (arrays_of(NUMBER), "self.all(x, x == 0.0)", 6291454, 3 * 1024 * 2048, 25165826),
    (arrays_of(EITHER), "self[0] == 5", 3, 10, 3),
    (arrays_of(mapping(NUMBER)), "self.all(x, x.y == 25.2)", 6291452, 12, 74),
    (arrays_of(scalar("string", "duration")), "self[0].getHours() == 2", 4, 525, 4),
    (arrays_of(scalar("string", "date")), "self.all(x, true)", 725936, 15, 47),
    (arrays_of(scalar("string", "date-time")), "self.all(x, true)", 428963, 25, 77),
    (text, "self.find('[0-9]+') == ''", 629147, 10, 11),
    (lambda limit: array(text(limit), limit), "self.join(' ') == 'aa bb'", 329853068905, 10, 43),
    (lambda limit: array(text(limit), limit), "self.isSorted() == true", 329854432052, 10, 52),
    (lambda limit: struct(s=text(limit), p=text(limit)), "self.s.split(self.p) == []", 629160, 10, 22),
    (text, "self.lowerAscii() == 'lower!'", 314575, 10, 6),
    (maps_of(INTEGER), "oldSelf.size() == self.size()", 5, 10, 5),
]


@pytest.mark.parametrize(
    ("limited", "expression", "unlimited_cost", "limit", "limited_cost"), ESTIMATES, ids=[row[1] for row in ESTIMATES]
)
def test_estimate_equals_that_of_kubernetes(
    limited: Limited, expression: str, unlimited_cost: int, limit: int, limited_cost: int
) -> None:
    assert (estimated(limited(None), expression), estimated(limited(limit), expression)) == (
        unlimited_cost,
        limited_cost,
    )


def estimated(schema: Schema, expression: str) -> int:
    kind = schema_type(schema) or DYN
    variables = {"self": kind, "oldSelf": kind}
    return estimate(Environment(variables).compile(expression).root, variables).high


LOOP: dict[str, CelType] = {"l": list_of(INT)}


def test_evaluation_above_its_limit_is_stopped() -> None:
    program = Environment(LOOP).compile("l.all(a, l.all(b, l.all(c, a + b + c >= 0)))")
    budget = Budget()
    with pytest.raises(CelBudgetExceeded, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate({"l": list(range(200))}, budget)
    assert budget.remaining < 0


def test_evaluation_above_the_remaining_budget_spends_it() -> None:
    program = Environment(LOOP).compile("l.all(a, a >= 0)")
    budget = Budget(remaining=20)
    with pytest.raises(CelBudgetExceeded, match="running out of cost budget"):
        program.evaluate({"l": list(range(10))}, budget)
    assert budget.remaining < 0


def test_failed_evaluation_is_charged() -> None:
    budget = Budget(remaining=100)
    with pytest.raises(CelRuntimeError):
        Environment(LOOP).compile("l.map(a, a * 2)[l.size()] == 1").evaluate({"l": [1, 2]}, budget)
    assert 0 < budget.remaining < 100


def test_estimates_are_not_below_the_cost() -> None:
    variables = {"self": schema_type(SCHEMA) or DYN}
    for expression, cost in COSTS:
        assert estimate(ENVIRONMENT.compile(expression).root, variables).high >= cost - 1, expression


DEAR = [
    "l.distinct().size() >= 0",
    "sets.contains(l, l)",
    "l.all(i, (l + l).size() > 0)",
    "l.map(i, string(i)).join().size() > 0 && l.all(i, l.map(j, j).size() > 0)",
    "lists.range(100000000).size() > 0",
    "s.replace('', s).size() > 0",
    "l.map(i, s).size() > 0 && l.map(i, '').join(s).size() > 0",
]


@pytest.mark.parametrize("expression", DEAR)
def test_too_expensive_call_does_not_start(expression: str) -> None:
    variables: dict[str, CelType] = {"l": list_of(INT), "s": STRING_TYPE}
    program = Environment(variables).compile(expression)
    with pytest.raises((CelBudgetExceeded, CelRuntimeError)):
        program.evaluate({"l": list(range(20_000)), "s": "x" * 200_000}, Budget())


def test_list_is_converted_once_per_evaluation() -> None:
    schema = struct(l=array(NUMBER))
    program = Environment({"self": schema_type(schema) or DYN}).compile("self.l.all(i, self.l[0] == 0.0)")
    assert program.evaluate({"self": {"l": [0] * 50_000}}, Budget()) is True
