"""Cases of CustomResourceDefinitions whose schemas are expensive, and of their objects."""

from typing import Any

from benchmarks.loop_fuzz.cases import (
    APPLY,
    CRDS,
    STORED_BYTES_MAX,
    Call,
    Case,
    crd,
    custom,
    custom_path,
    encoded,
    get,
    mapped,
    repeated,
)

Json = dict[str, Any]
_PROTOBUF = ",".join(f"application/com.github.proto-openapi.spec.v{number}@v1.0+protobuf" for number in (2, 3))
_OPEN: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _spec(node: Json) -> Json:
    return {"type": "object", "properties": {"spec": node}}


def _nested(depth: int) -> Json:
    node: Json = {"type": "string"}
    for _ in range(depth):
        node = {"type": "object", "properties": {"a": node}}
    return node


def _deep_value(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


def _cube(word: str, size: int = 20) -> Json:
    leaf = {"pattern": "^a*$"}
    return {"type": "string", word: [{word: [{word: [leaf] * size}] * size}] * size}


def _strings(limit: int = STORED_BYTES_MAX) -> list[str]:
    return repeated("ab", limit)


def _list(item: Json, **more: Any) -> Json:
    return {"type": "array", "items": item, **more}


def _rule(text: str, **more: Any) -> Json:
    return {"x-kubernetes-validations": [{"rule": text, **more}]}


def _columns() -> list[Json]:
    return repeated(lambda i: {"name": f"c{i}", "type": "string", "jsonPath": ".spec[*].a[*].b[*]"}, 1_000_000)


def schemas() -> dict[str, tuple[Json, Any, Json]]:
    """Return, by plural: the schema, the `spec` of an object, and further fields of the version."""
    item = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}
    keyed = _list(
        {"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]},
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
    )
    exists = "self.all(x, self.exists(y, y == x))"
    return {
        "allofs": (_spec(_list(_cube("allOf"))), _strings(3_000), {}),
        "anyofs": (_spec(_list(_cube("anyOf"))), _strings(3_000), {}),
        "oneofs": (_spec(_list(_cube("oneOf"))), _strings(3_000), {}),
        "wides": (
            _spec({"type": "object", "properties": mapped(lambda i: (f"p{i}", {"type": "string"}), 1_300_000)}),
            mapped(lambda i: (f"p{i}", 1), STORED_BYTES_MAX),
            {},
        ),
        "deeps": (_spec(_nested(200)), _deep_value(200), {}),
        "verydeeps": (_spec(_nested(3_000)), _deep_value(3_000), {}),
        "enums": (
            _spec(_list({"type": "string", "enum": repeated(lambda i: f"e{i}", 1_300_000)})),
            _strings(200_000),
            {},
        ),
        "numberenums": (
            _spec(_list({"type": "integer", "enum": repeated(lambda i: i, 600_000)})),
            repeated(999_999, 700_000),
            {},
        ),
        "patterns": (
            _spec(_list({"type": "string", "pattern": "^((a|b)*c?){1,200}$"})),
            ["ab" * 300_000, *_strings(400_000)],
            {},
        ),
        "manypatterns": (
            _spec(
                {
                    "type": "object",
                    "properties": mapped(
                        lambda i: (f"p{i}", {"type": "string", "pattern": f"^(a{{1,{i % 900 + 1}}}b)+$"}), 1_000_000
                    ),
                }
            ),
            mapped(lambda i: (f"p{i}", "x"), 500_000),
            {},
        ),
        "bigpattern": (
            _spec({"type": "string", "pattern": "(" + "|".join(f"a{i}.*b" for i in range(80_000)) + ")"}),
            "x" * 1_000_000,
            {},
        ),
        "sets": (
            _spec(_list({"type": "string"}, **{"x-kubernetes-list-type": "set"})),
            repeated(lambda i: f"s{i}", STORED_BYTES_MAX),
            {},
        ),
        "equalsets": (_spec(_list({"type": "string"}, **{"x-kubernetes-list-type": "set"})), _strings(), {}),
        "objectsets": (
            _spec(_list({**item, "x-kubernetes-map-type": "atomic"}, **{"x-kubernetes-list-type": "set"})),
            repeated(lambda i: {"a": f"s{i}"}, STORED_BYTES_MAX),
            {},
        ),
        "maps": (_spec(keyed), repeated(lambda i: {"k": f"s{i}"}, STORED_BYTES_MAX), {}),
        "equalmaps": (_spec(keyed), repeated({"k": "a"}, STORED_BYTES_MAX), {}),
        "keylessmaps": (_spec(keyed), repeated({}, STORED_BYTES_MAX), {}),
        "uniques": (_spec(_list(item)), repeated(lambda i: {"a": i}, STORED_BYTES_MAX), {}),
        "lengths": (_spec(_list({"type": "string", "maxLength": 1})), _strings(), {}),
        "required": (
            _spec(_list({"type": "object", "required": [f"r{i}" for i in range(100)]})),
            repeated({}, STORED_BYTES_MAX),
            {},
        ),
        "unknowns": (_spec(_list(item)), repeated(lambda i: {f"u{i}": 1}), {}),
        "defaults": (
            _spec(
                _list(
                    {
                        "type": "object",
                        "properties": {f"p{i}": {"type": "string", "default": "d" * 30} for i in range(50)},
                    }
                )
            ),
            repeated({}, 100_000),
            {},
        ),
        "bigdefaults": (
            _spec(
                _list(
                    {
                        "type": "object",
                        "properties": {"p": {**_OPEN, "default": mapped(lambda i: (f"k{i}", "v"), 1_000_000)}},
                    }
                )
            ),
            repeated({}, 3_000),
            {},
        ),
        "formats": (_spec(_list({"type": "string", "format": "date-time"})), _strings(), {}),
        "opens": (
            _spec(_OPEN),
            repeated(lambda i: {"a": {"b": [i]}}, STORED_BYTES_MAX)
            and {"l": repeated(lambda i: {"a": {"b": [i]}}, STORED_BYTES_MAX)},
            {},
        ),
        "embeddeds": (
            _spec(_list({**_OPEN, "x-kubernetes-embedded-resource": True})),
            repeated({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "/"}}, STORED_BYTES_MAX),
            {},
        ),
        "quadraticrule": (
            _spec(_list({"type": "string", "maxLength": 4}, maxItems=900, **_rule(exists))),
            [f"{i}" for i in range(900)],
            {},
        ),
        "itemrules": (
            _spec(
                _list(
                    {"type": "string", "maxLength": 10, **_rule("self.size() > 5 && self.matches('^(a|b)+c$')")},
                    maxItems=100_000,
                )
            ),
            repeated("abababa", 800_000),
            {},
        ),
        "unbounded": (_spec(_list({"type": "string", **_rule("self.size() > 5")})), _strings(), {}),
        "stringrules": (
            _spec(
                {
                    "type": "string",
                    "maxLength": 1_000_000,
                    **_rule("self.split('a').size() > self.find('b').size() && self.replace('a', 'bb').size() < 3"),
                }
            ),
            "ab" * 450_000,
            {},
        ),
        "messages": (
            _spec(
                _list(
                    {"type": "string", "maxLength": 100, **_rule("false", messageExpression="'bad ' + self")},
                    maxItems=50_000,
                )
            ),
            repeated("abababa", 400_000),
            {},
        ),
        "manyrules": (
            _spec(
                {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "x-kubernetes-validations": [{"rule": f"self.a > {i}"} for i in range(20_000)],
                }
            ),
            {"a": 1},
            {},
        ),
        "longrule": (
            _spec(
                {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    **_rule(" && ".join(f"self.a > {i}" for i in range(60_000))),
                }
            ),
            {"a": 1},
            {},
        ),
        "deeprule": (
            _spec(
                {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    **_rule("(" * 500_000 + "1" + ")" * 500_000),
                }
            ),
            {"a": 1},
            {},
        ),
        "ruleseverywhere": (
            _spec(
                {
                    "type": "object",
                    "properties": mapped(
                        lambda i: (
                            f"p{i}",
                            {"type": "string", "maxLength": 10, **_rule("self != 'x' && self.startsWith('a')")},
                        ),
                        1_200_000,
                    ),
                }
            ),
            mapped(lambda i: (f"p{i}", "b"), 500_000),
            {},
        ),
        "columns": (
            _spec(_list(_OPEN)),
            repeated({"a": [{"b": [1, 2]}]}, 600_000),
            {"additionalPrinterColumns": _columns()},
        ),
        "badcolumns": (
            _spec(_OPEN),
            {},
            {"additionalPrinterColumns": repeated({"name": "a", "type": "x", "jsonPath": "["})},
        ),
        "selectables": (_spec(_OPEN), {}, {"selectableFields": repeated({"jsonPath": ".spec.a"})}),
        "badschema": ({"type": "object", "properties": mapped(lambda i: (f"p{i}", {}))}, {}, {}),
        "badtypes": ({"type": "object", "properties": mapped(lambda i: (f"p{i}", {"type": "x"}))}, {}, {}),
        "descriptions": ({"type": "object", "description": "x" * 1_300_000}, {}, {}),
    }


def crd_cases() -> list[Case]:
    """Return the cases of each CRD, and of one of its objects: created, read as a table, applied and updated."""
    made: list[Case] = []
    for plural, (schema, value, version) in schemas().items():
        made += _cases_of(plural, schema, value, version)
    shared = {"versions": repeated({"name": "v1"}), "conversion": {"strategy": "None"}}
    made.append(
        Case(
            "CRD with many versions",
            lambda: Call(
                "POST", CRDS, encoded({**crd("versions", {}), "spec": {**crd("versions", {})["spec"], **shared}})
            ),
        )
    )
    names = {"plural": "names", "kind": "Names", "shortNames": repeated(lambda i: f"n{i}"), "categories": repeated("/")}
    made.append(
        Case(
            "CRD with many names",
            lambda: Call(
                "POST", CRDS, encoded({**crd("names", {}), "spec": {**crd("names", {})["spec"], "names": names}})
            ),
        )
    )
    return made


def _cases_of(plural: str, schema: Json, value: Any, version: Json) -> list[Case]:
    path = custom_path(plural)

    def definition(**more: Any) -> bytes:
        return encoded({**crd(plural, schema, **version), **more})

    def obj(**more: Any) -> bytes:
        return encoded({**custom(plural), "spec": value, **more})

    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    return [
        Case(f"CRD {plural}", lambda: Call("POST", CRDS, definition())),
        Case(f"CRD {plural}, object", lambda: Call("POST", path, obj())),
        Case(f"CRD {plural}, object again", lambda: Call("POST", path, obj())),
        Case(
            f"CRD {plural}, apply",
            lambda: Call("PATCH", f"{path}/y?fieldManager=a", obj(metadata={"name": "y"}), APPLY),
        ),
        Case(
            f"CRD {plural}, merge patch",
            lambda: Call(
                "PATCH", f"{path}/x", encoded({"metadata": {"labels": {"a": "b"}}}), "application/merge-patch+json"
            ),
        ),
        get(f"CRD {plural}, table", path, accept=table),
        Case(f"CRD {plural}, openapi", lambda: Call("GET", "/openapi/v3/apis/fuzz.example.com/v1")),
        Case(f"CRD {plural}, deletion", lambda: Call("DELETE", f"{CRDS}/{plural}.fuzz.example.com")),
    ]


def many_crds(count: int = 150) -> list[Call]:
    """Return requests that create CRDs of ordinary size, for discovery and OpenAPI."""
    properties = {
        f"p{i}": {
            "type": "object",
            "properties": {f"q{j}": {"type": "string", "description": "d" * 80} for j in range(20)},
        }
        for i in range(20)
    }
    return [
        Call("POST", CRDS, encoded(crd(f"many{i}s", _spec({"type": "object", "properties": properties}))))
        for i in range(count)
    ]


def many_crd_cases() -> list[Case]:
    """Return the cases of documents that grow with the CRDs. Each is requested right after a change, and once more."""
    change = many_crds(151)[-1:]
    paths = ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/fuzz.example.com/v1", "/apis", "/apis/fuzz.example.com/v1"]
    forms = {
        "": "application/json",
        ", protobuf": _PROTOBUF,
        ", aggregated": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
    }
    made = [Case("151st CRD", lambda: change[0], lambda: many_crds(150))]
    made += [get(f"150 CRDs, {path}{name}", path, accept=form) for path in paths for name, form in forms.items()]
    made += [get(f"150 CRDs, {path}{name}, again", path, accept=form) for path in paths for name, form in forms.items()]
    made.append(get("150 CRDs, list of CRDs", CRDS))
    made.append(get("150 CRDs, list of CRDs as table", CRDS, accept="application/json;as=Table;v=v1;g=meta.k8s.io"))
    made.append(get("150 CRDs, list of CRDs as YAML", CRDS, accept="application/yaml"))
    return made
