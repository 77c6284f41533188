"""Expressions and their values, with one table for each part of the language."""

from typing import Any

import pytest

from sampan.schema.cel import Budget, CelRuntimeError, CelSyntaxError, CelType, CelTypeError, Environment
from sampan.schema.cel.cost.estimate import estimate
from sampan.schema.cel.library.encoders import ENCODERS, JSON_PATCH
from sampan.schema.cel.library.kubernetes import KUBERNETES
from sampan.schema.cel.library.math import MATH
from sampan.schema.cel.types import DYN, INT, STRING, list_of, map_of

VARIABLES: dict[str, CelType] = {
    "x": INT,
    "s": STRING,
    "l": list_of(INT),
    "m": map_of(STRING, INT),
    "d": DYN,
    "a.b": INT,
}
BINDINGS: dict[str, Any] = {
    "x": 3,
    "s": "héllo",
    "l": [1, 2, 3],
    "m": {"one": 1, "two": 2},
    "d": {"i": 1, "f": 1.5, "s": "text", "t": True, "n": None, "l": [1, "a"], "m": {"k": 1}, "e": {}},
    "a.b": 7,
}
ENVIRONMENT = Environment(VARIABLES, libraries=(*KUBERNETES, MATH, ENCODERS, JSON_PATCH))


def value_of(expression: str) -> Any:
    """Return the value in JSON form, if it has one."""
    return ENVIRONMENT.compile(expression).evaluate(BINDINGS, Budget())


TRUTHS = """
1 + 2 == 3
7 - 10 == -3
2 * 3 == 6
7 / 2 == 3
-7 / 2 == -3
7 / -2 == -3
7 % 3 == 1
-7 % 3 == -1
7 % -3 == 1
-x == -3
--x == 3
1u + 2u == 3u
7u / 2u == 3u
7u % 4u == 3u
1.5 + 1.5 == 3.0
7.0 / 2.0 == 3.5
1.0 / 0.0 > 1.0e300
-1.0 / 0.0 < -1.0e300
0.0 / 0.0 != 0.0 / 0.0
9223372036854775807 == 9223372036854775807
-9223372036854775808 < 0
0x1F == 31
0xFFu == 255u
1e3 == 1000.0
.5 == 0.5
'a' + 'b' == 'ab'
b'a' + b'b' == b'ab'
[1] + [2] == [1, 2]
1 < 2
2 <= 2
!(1 > 2)
1 < 1.5
2.5 > 2
1u < 2
2u > 1.5
-1 < 0u
1u >= -5
'a' < 'b'
'abc' < 'abd'
b'a' < b'b'
false < true
dyn(1) == 1.0
dyn(1) == 1u
dyn(1u) == 1.0
dyn(1) != '1'
dyn(true) != 1
dyn([1]) == [1.0]
dyn({'a': 1}) == {'a': 1.0}
dyn(null) != 0
null == null
{'a': 1, 'b': 2} == {'b': 2, 'a': 1}
{1: 'a'}[1] == 'a'
{1u: 'a'}[1u] == 'a'
{true: 'a'}[true] == 'a'
dyn({1: 'a'})[1.0] == 'a'
[1, 2, 3][1] == 2
1 in [1, 2]
!(3 in [1, 2])
x in l
'one' in m
!('three' in m)
dyn(1.0) in [1, 2]
dyn('a') in ['a']
!(dyn(1) in ['1'])
!('a' in [])
true && true
!(true && false)
true || false
false || true
(1 / 0 == 1) || true
true || (1 / 0 == 1)
!((1 / 0 == 1) && false)
!(false && 1 / 0 == 1)
d.missing == 1 || true
d.missing == 1 || d.gone == 1 || true
!(true && d.missing == 1 && false)
dyn(1) || true
x > 2 ? true : false
x > 5 ? 1 / 0 == 1 : true
has(d.i)
!has(d.missing)
has(d.n)
has(m.one)
!has(m.three)
has({'a': 1}.a)
d.m.k == 1
d['m']['k'] == 1
d.l[1] == 'a'
d.n == null
m.one == 1
a.b == 7
'héllo'.size() == 5
size('😀') == 1
size(b'é') == 2
size(l) == 3
m.size() == 2
size([]) == 0
l.all(i, i > 0)
!l.all(i, i > 1)
l.exists(i, i == 2)
!l.exists(i, i == 9)
l.exists_one(i, i == 2)
!l.exists_one(i, i > 1)
l.exists_one(i, i == 3)
[].all(i, false)
![].exists(i, true)
m.all(k, k.size() == 3)
m.exists(k, m[k] == 2)
l.all(i, v, i + 1 == v)
m.exists(k, v, k == 'two' && v == 2)
m.exists_one(k, v, v == 1)
[1, 0, 2].exists(i, 4 / i == 4)
[0, 1].exists(i, 1 / i == 1)
![0, 1].all(i, 1 / i == 5)
l.map(i, i * 2) == [2, 4, 6]
l.map(i, i > 1, i * 2) == [4, 6]
l.filter(i, i > 1) == [2, 3]
m.map(k, k).size() == 2
m.filter(k, m[k] == 2) == ['two']
l.transformList(i, v, i + v) == [1, 3, 5]
l.transformList(i, v, v != 2, v) == [1, 3]
m.transformMap(k, v, v + 1) == {'one': 2, 'two': 3}
m.transformMap(k, v, v > 1, v) == {'two': 2}
m.transformMapEntry(k, v, {v: k}) == {1: 'one', 2: 'two'}
l.transformMap(i, v, v) == {0: 1, 1: 2, 2: 3}
[[1, 2], [3]].all(i, i.exists(j, j > 0))
l.all(x, x > 0)
l.map(i, l.map(j, i * j)) == [[1, 2, 3], [2, 4, 6], [3, 6, 9]]
type(1) == int
type(1u) == uint
type(1.0) == double
type('') == string
type(b'') == bytes
type(true) == bool
type(null) == null_type
type([]) == list
type({}) == map
type(int) == type
type(type(1)) == type
type(timestamp('2020-01-01T00:00:00Z')) == google.protobuf.Timestamp
type(duration('1s')) == google.protobuf.Duration
int(3.9) == 3
int(-3.9) == -3
int('42') == 42
int(5u) == 5
int(timestamp('1970-01-01T00:01:00Z')) == 60
uint(5) == 5u
uint('7') == 7u
uint(2.9) == 2u
double('1.5') == 1.5
double(2) == 2.0
double(3u) == 3.0
string(1) == '1'
string(2u) == '2'
string(1.5) == '1.5'
string(1e10) == '1e+10'
string(100000.0) == '100000'
string(1e-7) == '1e-07'
string(true) == 'true'
string(b'abc') == 'abc'
string(duration('1h1.5s')) == '3601.5s'
string(timestamp('2020-01-02T03:04:05.6Z')) == '2020-01-02T03:04:05.6Z'
string(timestamp('2020-01-02T03:04:05+01:00')) == '2020-01-02T03:04:05+01:00'
bytes('é') == b'\\303\\251'
bool('true')
!bool('False')
'\\u00e9' == 'é'
'\\U0001F600' == '😀'
'\\x41\\101' == 'AA'
"a\\"b" == 'a"b'
'a\\'b' == "a'b"
r'\\d' == '\\\\d'
'''a'b''' == "a'b"
b'\\xff'.size() == 1
'a\\nb'.size() == 3
"tab\\t".size() == 4
timestamp('2020-02-29T12:30:45.678Z').getFullYear() == 2020
timestamp('2020-02-29T12:30:45.678Z').getMonth() == 1
timestamp('2020-02-29T12:30:45.678Z').getDate() == 29
timestamp('2020-02-29T12:30:45.678Z').getDayOfMonth() == 28
timestamp('2020-02-29T12:30:45.678Z').getDayOfWeek() == 6
timestamp('2020-02-29T12:30:45.678Z').getDayOfYear() == 59
timestamp('2020-02-29T12:30:45.678Z').getHours() == 12
timestamp('2020-02-29T12:30:45.678Z').getMinutes() == 30
timestamp('2020-02-29T12:30:45.678Z').getSeconds() == 45
timestamp('2020-02-29T12:30:45.678Z').getMilliseconds() == 678
timestamp('2020-02-29T23:30:00Z').getHours('+01:00') == 0
timestamp('2020-02-29T00:30:00Z').getHours('-01:30') == 23
timestamp('2020-07-01T00:00:00Z').getHours('Europe/Rome') == 2
timestamp('2020-01-01T00:00:00Z') + duration('24h') == timestamp('2020-01-02T00:00:00Z')
timestamp('2020-01-02T00:00:00Z') - timestamp('2020-01-01T00:00:00Z') == duration('86400s')
timestamp('2020-01-01T00:00:00Z') - duration('1s') < timestamp('2020-01-01T00:00:00Z')
timestamp('2020-01-01T01:00:00+01:00') == timestamp('2020-01-01T00:00:00Z')
timestamp(0) == timestamp('1970-01-01T00:00:00Z')
duration('1h') + duration('30m') == duration('90m')
duration('1h') - duration('2h') < duration('0s')
duration('-1.5h') == duration('-90m')
duration('1h30m').getHours() == 1
duration('1h30m').getMinutes() == 90
duration('90s').getSeconds() == 90
duration('1.5s').getMilliseconds() == 1500
duration('1ms').getMilliseconds() == 1
optional.of(1).hasValue()
!optional.none().hasValue()
optional.of(1).value() == 1
optional.of(1).orValue(2) == 1
optional.none().orValue(2) == 2
optional.none().or(optional.of(3)).value() == 3
optional.ofNonZeroValue(0) == optional.none()
optional.ofNonZeroValue('a') == optional.of('a')
optional.ofNonZeroValue([]) == optional.none()
d.?i.orValue(9) == 1
d.?missing.orValue(9) == 9
d.?m.k.orValue(9) == 1
d.?m.?x.orValue(9) == 9
d.?gone.k.orValue(9) == 9
m[?'one'].orValue(9) == 1
m[?'x'].orValue(9) == 9
l[?0].value() == 1
!l[?7].hasValue()
optional.of(l)[0].value() == 1
optional.of(2).optMap(v, v * 2).value() == 4
!optional.none().optMap(v, v).hasValue()
optional.of([4]).optFlatMap(v, v[?0]).value() == 4
[1, ?optional.of(2), ?optional.none()] == [1, 2]
{'a': 1, ?'b': optional.none()} == {'a': 1}
{?'b': optional.of(2)} == {'b': 2}
[1, 2].first().value() == 1
![].last().hasValue()
[optional.of(1), optional.none()].unwrapOpt() == [1]
optional.of(1) == optional.of(1)
optional.of(1) != optional.none()
""".strip().split("\n")

LIBRARY_TRUTHS = """
'tacocat'.charAt(3) == 'o'
'abc'.charAt(3) == ''
'hello mellow'.indexOf('ello') == 1
'hello mellow'.indexOf('ello', 2) == 7
'hello'.indexOf('z') == -1
'hello'.indexOf('') == 0
'hello mellow'.lastIndexOf('ello') == 7
'hello mellow'.lastIndexOf('ello', 6) == 1
'hello'.lastIndexOf('') == 5
'HeLLo É'.lowerAscii() == 'hello É'
'HeLLo é'.upperAscii() == 'HELLO é'
'hello hello'.replace('he', 'we') == 'wello wello'
'hello hello'.replace('he', 'we', 1) == 'wello hello'
'hello'.replace('l', '', 0) == 'hello'
'ab'.replace('', '_') == '_a_b_'
'a b c'.split(' ') == ['a', 'b', 'c']
'a b c'.split(' ', 2) == ['a', 'b c']
'a b c'.split(' ', 0) == []
'abc'.split('') == ['a', 'b', 'c']
'tacocat'.substring(4) == 'cat'
'tacocat'.substring(0, 4) == 'taco'
' \\ttrim\\n '.trim() == 'trim'
['x', 'y'].join() == 'xy'
['x', 'y'].join(', ') == 'x, y'
[].join('-') == ''
strings.quote('a"b\\n') == '"a\\\\"b\\\\n"'
'%s is %d'.format(['x', 3]) == 'x is 3'
'%.2f'.format([3.14159]) == '3.14'
'%x %X'.format([255, 255]) == 'ff FF'
'%x'.format(['hi']) == '6869'
'%b'.format([5]) == '101'
'%o'.format([8]) == '10'
'%s'.format([[1, 'a', 2.5]]) == '[1, "a", 2.500000]'
'%s'.format([{'b': 1, 'a': true}]) == '{"a":true, "b":1}'
'%s'.format([null]) == 'null'
'100%%'.format([]) == '100%'
'abc'.contains('b')
'abc'.startsWith('ab')
'abc'.endsWith('bc')
'abc'.matches('^a.c$')
matches('abc', 'b')
!'abc'.matches('^b')
'abc 123'.find('[0-9]+') == '123'
'abc'.find('[0-9]+') == ''
'1 22 3'.findAll('[0-9]+') == ['1', '22', '3']
'1 22 3'.findAll('[0-9]+', 2) == ['1', '22']
'1 22 3'.findAll('[0-9]+', 0) == []
dyn([1, 2]).flatten() == [1, 2]
dyn([1]).flatten(2) == [1]
--19 == 19
---19 == -19
'%e'.format([2.71828]) == '2.718280×10⁰⁰'
'%.20e'.format([1.5]) == '       1.500000×10⁰⁰'
'%e'.format(['NaN']) == '   NaN'
'%.1f'.format([-0.0]) == '0.0'
isURL('https:://x/')
isURL('mailto:a@b')
isURL('*')
!isURL('a')
url('https:://x/').getHost() == ''
url('http:a?b=c').getEscapedPath() == ''
google.protobuf.BoolValue{} == false
google.protobuf.BoolValue{value: true}
google.protobuf.BoolValue{} != null
google.protobuf.BytesValue{value: b'a'} == b'a'
google.protobuf.FloatValue{value: 1.1} == 1.100000023841858
google.protobuf.Int64Value{value: 5} + 1 == 6
google.protobuf.StringValue{value: 'a'} + 'b' == 'ab'
google.protobuf.UInt32Value{} == 0u
google.protobuf.Value{string_value: 'a'} == 'a'
google.protobuf.Value{} == null
google.protobuf.Struct{fields: {'a': 1}} == {'a': 1.0}
google.protobuf.ListValue{values: [1]} == [1.0]
google.protobuf.Timestamp{seconds: 5} == timestamp(5)
google.protobuf.Duration{seconds: 5} == duration('5s')
[google.protobuf.Int64Value{}, 1].size() == 2
[1, 2, 2].isSorted()
!['b', 'a'].isSorted()
[1, 2, 3].sum() == 6
[1.5, 2.5].sum() == 4.0
[].sum() == 0
[duration('1s'), duration('2s')].sum() == duration('3s')
[3, 1, 2].min() == 1
['a', 'c'].max() == 'c'
[1, 2, 1].indexOf(1) == 0
[1, 2, 1].lastIndexOf(1) == 2
[1].indexOf(5) == -1
[1, 2, 3, 4].slice(1, 3) == [2, 3]
[[1], [2, 3]].flatten() == [1, 2, 3]
[dyn(1), dyn([dyn(2), dyn([dyn(3), dyn([4])])])].flatten(2) == [dyn(1), dyn(2), dyn(3), dyn([4])]
[3, 1, 2].sort() == [1, 2, 3]
[3, 1, 2].sortBy(e, -e) == [3, 2, 1]
['aa', 'b'].sortBy(e, e.size()) == ['b', 'aa']
lists.range(3) == [0, 1, 2]
[1, 2].reverse() == [2, 1]
[1, 2, 1].distinct() == [1, 2]
sets.contains([1, 2], [2])
!sets.contains([1], [2])
sets.equivalent([1, 2], [2, 1, 1])
sets.intersects([1, 2], [2, 3])
!sets.intersects([], [1])
quantity('1.5Gi') == quantity('1536Mi')
quantity('1').isGreaterThan(quantity('900m'))
quantity('1k').compareTo(quantity('1000')) == 0
quantity('50k').add(quantity('20k')) == quantity('70k')
quantity('50k').add(20) == quantity('50020')
quantity('50k').sub(quantity('20k')).isLessThan(quantity('40k'))
quantity('50k').asInteger() == 50000
!quantity('500m').isInteger()
quantity('500m').asApproximateFloat() == 0.5
sign(quantity('-1')) == -1
isQuantity('1Mi')
!isQuantity('one')
ip('192.168.0.1').family() == 4
ip('::1').isLoopback()
ip('0.0.0.0').isUnspecified()
ip('224.0.0.1').isLinkLocalMulticast()
ip('169.254.1.1').isLinkLocalUnicast()
ip('8.8.8.8').isGlobalUnicast()
ip('::1') == ip('0:0:0:0:0:0:0:1')
ip.isCanonical('::1')
!ip.isCanonical('0:0::1')
isIP('1.2.3.4')
!isIP('::ffff:1.2.3.4')
string(ip('1.2.3.4')) == '1.2.3.4'
type(ip('1.2.3.4')) == net.IP
cidr('192.168.0.0/24').containsIP('192.168.0.9')
!cidr('192.168.0.0/24').containsIP(ip('192.168.1.9'))
cidr('192.168.0.0/16').containsCIDR('192.168.1.0/24')
!cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/16'))
cidr('192.168.0.5/24').ip() == ip('192.168.0.5')
cidr('192.168.0.5/24').masked() == cidr('192.168.0.0/24')
cidr('::/8').prefixLength() == 8
string(cidr('10.0.0.0/8')) == '10.0.0.0/8'
isCIDR('10.0.0.0/8')
!isCIDR('10.0.0.0')
url('https://user@example.com:80/a%20b?k=v&k=w#f').getHost() == 'example.com:80'
url('https://example.com:80/').getHostname() == 'example.com'
url('https://example.com:80/').getPort() == '80'
url('https://[::1]:80/').getHostname() == '::1'
url('https://example.com/a%20b').getEscapedPath() == '/a%20b'
url('https://example.com/?k=v&k=w').getQuery() == {'k': ['v', 'w']}
url('HTTPS://example.com').getScheme() == 'https'
isURL('/absolute')
!isURL('relative')
!isURL('https://a:b/')
semver('1.2.3').major() == 1
semver('1.2.3').minor() == 2
semver('1.2.3').patch() == 3
semver('1.2.3').isGreaterThan(semver('1.2.3-alpha'))
semver('1.0.0-alpha.1').isLessThan(semver('1.0.0-alpha.beta'))
semver('1.0.0+a') == semver('1.0.0+b')
semver('v01.2', true) == semver('1.2.0')
isSemver('1.0.0')
!isSemver('1.0')
isSemver('v1.0', true)
!format.dns1123Label().validate('my-label').hasValue()
format.dns1123Label().validate('Not').hasValue()
format.named('uuid').value() == format.uuid()
!format.named('nothing').hasValue()
!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()
format.date().validate('2021-13-01').hasValue()
!format.datetime().validate('2021-01-01T00:00:00Z').hasValue()
!format.byte().validate('aGVsbG8=').hasValue()
format.uri().validate('x').value() == ['parse "x": invalid URI for request']
math.greatest(1, 5, 3) == 5
math.least([2.5, 1.5]) == 1.5
math.abs(-3) == 3
math.ceil(1.2) == 2.0
math.round(-1.5) == -2.0
math.sign(-2.5) == -1.0
base64.encode(b'hello') == 'aGVsbG8='
base64.decode('aGVsbG8') == b'hello'
jsonpatch.escapeKey('k8s.io/my~label') == 'k8s.io~1my~0label'
""".strip().split("\n")

RUNTIME_ERRORS = [
    ("1 / (x - 3) == 1", "division by zero"),
    ("1 % (x - 3) == 1", "modulus by zero"),
    ("9223372036854775807 + x == 0", "integer overflow"),
    ("-9223372036854775808 - x == 0", "integer overflow"),
    ("9223372036854775807 * x == 0", "integer overflow"),
    ("-(x - 9223372036854775807 - 4) == 0", "integer overflow"),
    ("1u - uint(x) == 0u", "unsigned integer overflow"),
    ("uint(-x) == 0u", "unsigned integer overflow"),
    ("int(1e19 * double(x)) == 0", "integer overflow"),
    ("l[x] == 1", "index out of bounds: 3"),
    ("l[-x] == 1", "index out of bounds: -3"),
    ("m.three == 1", "no such key: three"),
    ("m.three == 1 || m.four == 1", "no such key: three"),
    ("m.three == 1 && m.four == 1", "no such key: three"),
    ("m.three == 1 || false || m.four == 1", "no such key: three"),
    ("m.three == 1 && m.four == 1 && true", "no such key: three"),
    ("m.three == 1 || (m.four == 1 && m.five == 1)", "no such key: three"),
    ("(m.three == 1 || m.four == 1) && (m.five == 1 || m.six == 1)", "no such key: three"),
    ("d.s || m.four == 1", "no such overload"),
    ("m.three == 1 || d.s", "no such key: three"),
    ("false || m.four == 1", "no such key: four"),
    ("l.exists(i, m[string(i)] == i)", "no such key: 1"),
    ("l.all(i, m[string(i)] == i)", "no such key: 1"),
    ("m['three'] == 1", "no such key: three"),
    ("d.missing == 1", "no such key: missing"),
    ("d.m.k.z == 1", "no such key: z"),
    ("dyn(x) + 'a' == 'a'", "no such overload"),
    ("dyn(x) < 'a'", "no such overload"),
    ("dyn('a') && true", "no such overload"),
    ("dyn('a') ? true : false", "no such overload"),
    ("dyn(x).size() == 1", "no such overload: size"),
    ("dyn(x).startsWith('a')", "no such overload"),
    ("dyn(x).all(i, i)", "got 'types.Int', expected iterable type"),
    ("dyn(x).all(i, v, v)", "unsupported comprehension range type: types.Int"),
    ("dyn(l) < dyn(x)", "no such overload: _<_"),
    ("dyn(x) < dyn(l)", "no such overload"),
    ("l[dyn(0.5)]", "unsupported index value 0.5 in list"),
    ("dyn({})[dyn(l)]", "invalid qualifier type: *types.baseList"),
    ("dyn(x).flatten()", "no such overload: int.flatten()"),
    ("duration('9223372036s') + duration('9223372036s')", "integer overflow"),
    ("int(s) == 1", "type conversion error from 'string' to 'int'"),
    ("bool(s)", "type conversion error from 'string' to 'bool'"),
    ("timestamp(s) == timestamp(0)", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
    ("duration(s) == duration('1s')", "type conversion error from 'string' to 'google.protobuf.Duration'"),
    ("timestamp('9999-12-31T23:59:59Z') + duration('1s') == timestamp(0)", "timestamp overflow"),
    ("optional.none().value() == 1", "optional.none() dereference"),
    ("s.charAt(99) == ''", "index out of range: 99"),
    ("s.substring(3, 2) == ''", "invalid substring range. start: 3, end: 2"),
    ("s.matches(s + '(')", "error parsing regexp: missing closing ): `héllo(`"),
    ("l.filter(i, i > 9).min() == 1", "min called on empty list"),
    ("quantity(s) == quantity('1')", "quantities must match the regular expression "),
    ("ip(s).family() == 4", 'IP Address "héllo" parse error during conversion from string: '),
    ("[1, 0].all(i, 1 / i == 1)", "division by zero"),
    ("[1, 0].exists_one(i, 1 / i == 1)", "division by zero"),
    ("m.transformMapEntry(k, v, {'same': v}).size() == 1", "insert failed: key same already exists"),
    (
        "google.protobuf.Int32Value{value: 2147483648} == 0",
        "field type conversion error for google.protobuf.Int32Value.value value type: integer overflow",
    ),
    ("'%d'.format([dyn('a')]) == ''", "error during formatting: decimal clause can only be used on integers, "),
    ("'%s'.format(l.filter(i, i > 9)) == ''", "index 0 out of range"),
    ("(s + '%y').format([1]) == ''", 'could not parse formatting clause: unrecognized formatting clause "y"'),
    ("timestamp(0).getHours('Nowhere/Land') == 0", "unknown time zone Nowhere/Land"),
]

TYPE_ERRORS = [
    ("foo", "undeclared reference to 'foo' (in container '')", 1),
    ("x.foo", "type 'int' does not support field selection", 2),
    ("1 + 'a'", "found no matching overload for '_+_' applied to '(int, string)'", 3),
    ("x == 'a'", "found no matching overload for '_==_' applied to '(int, string)'", 3),
    ("1 + 1.0", "found no matching overload for '_+_' applied to '(int, double)'", 3),
    ("1u + 1", "found no matching overload for '_+_' applied to '(uint, int)'", 4),
    ("!x", "found no matching overload for '!_' applied to '(int)'", 1),
    ("x && true", "expected type 'bool' but found 'int'", 1),
    ("true || s", "expected type 'bool' but found 'string'", 9),
    ("s.size(1)", "found no matching overload for 'size' applied to 'string.(int)'", 7),
    ("s.nothing()", "undeclared reference to 'nothing' (in container '')", 10),
    ("nothing(s)", "undeclared reference to 'nothing' (in container '')", 8),
    ("l.all(i, i)", "expected type 'bool' but found 'int'", 10),
    ("{1: 1, 'a': 2}", "expected type 'int' but found 'string'", 8),
    ("[1, dyn(2)]", "expected type 'int' but found 'dyn'", 8),
    ("{}.map(c, [c, type(c)])", "expected type 'dyn' but found 'type(dyn)'", 19),
    ("l.existsOne(x, true)", "undeclared reference to 'existsOne' (in container '')", 12),
    ("Foo{a: Bar{}}", "undeclared reference to 'Foo' (in container '')", 4),
    ("map{}", "'map' is not a message type", 4),
    ("kubernetes.URL{}", "undeclared reference to 'kubernetes.URL' (in container '')", 15),
    ("s.namespace()", "found no matching overload for 'namespace' applied to 'string.()'", 12),
    (
        "google.protobuf.BoolValue{value: 1}",
        "expected type of field 'value' is 'bool' but provided type is 'int'",
        32,
    ),
    (
        "x.all(i, true)",
        "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        1,
    ),
    ("l['a']", "found no matching overload for '_[_]' applied to '(list(int), string)'", 2),
    ("m[1]", "found no matching overload for '_[_]' applied to '(map(string, int), int)'", 2),
    ("'a' in l", "found no matching overload for '@in' applied to '(string, list(int))'", 5),
    ("x ? 1 : 2", "found no matching overload for '_?_:_' applied to '(int, int, int)'", 3),
    ("true ? 1 : 'a'", "found no matching overload for '_?_:_' applied to '(bool, int, string)'", 6),
    ("[1, 'a']", "expected type 'int' but found 'string'", 5),
    ("{'a': 1, 'b': 'c'}", "expected type 'int' but found 'string'", 15),
    ("duration('x')", "invalid duration argument", 10),
    ("timestamp('x')", "invalid timestamp argument", 11),
    ("s.matches('(')", "invalid matches argument", 11),
    ("'%s'.format([])", "index 0 out of range", 12),
    ("'a'.format([1])", "too many arguments supplied to string.format (expected 0, got 1)", 11),
    (
        "'%d'.format(['a'])",
        "error during formatting: decimal clause can only be used on integers, was given string",
        14,
    ),
    ("'%q'.format([1])", 'could not parse formatting clause: unrecognized formatting clause "q"', 12),
    ("Foo{a: 1}", "undeclared reference to 'Foo' (in container '')", 4),
]

SYNTAX_ERRORS = [
    ("1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', "),
    ("", "ERROR: <input>:1:1: Syntax error: mismatched input '<EOF>' expecting "),
    ("a ? b", "ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting ':'"),
    ("a b", "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>"),
    ("(1", "ERROR: <input>:1:3: Syntax error: "),
    ("[1,", "ERROR: <input>:1:4: Syntax error: "),
    ("'abc", "ERROR: <input>:1:1: Syntax error: token recognition error at: ''abc'"),
    ("a &&& b", "ERROR: <input>:1:5: Syntax error: token recognition error at: '& '"),
    ("true &&\n  @", "ERROR: <input>:2:3: Syntax error: token recognition error at: '@'"),
    ("has(x)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(x)\n | ....^"),
    ("l.all(1, true)", "ERROR: <input>:1:7: argument must be a simple name"),
    ("l.map(1, true)", "ERROR: <input>:1:7: argument is not an identifier"),
    ("l.all(i, i, true)", "ERROR: <input>:1:10: duplicate variable name: i"),
    ("namespace == 1", "ERROR: <input>:1:1: reserved identifier: namespace"),
    ("9223372036854775808", "ERROR: <input>:1:1: invalid int literal"),
    ("18446744073709551616u", "ERROR: <input>:1:1: invalid uint literal"),
    ("1e999", "ERROR: <input>:1:1: invalid double literal"),
    ("(" * 120 + "1" + ")" * 120, "ERROR: <input>:1:"),
    ("m.`one`", "ERROR: <input>:1:3: unsupported syntax: '`'"),
    ("---9223372036854775808", "ERROR: <input>:1:4: invalid int literal"),
    ("1" + " + 1" * 251, "ERROR: <input>:-1:0: max recursion depth exceeded"),
    ("'" + "a" * 100_000 + "'", "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100002"),
]


@pytest.mark.parametrize("expression", TRUTHS)
def test_expression_of_the_language_is_true(expression: str) -> None:
    assert value_of(expression) is True


@pytest.mark.parametrize("expression", LIBRARY_TRUTHS)
def test_expression_of_the_libraries_is_true(expression: str) -> None:
    assert value_of(expression) is True


@pytest.mark.parametrize(("expression", "message"), RUNTIME_ERRORS, ids=[row[0] for row in RUNTIME_ERRORS])
def test_failed_evaluation_has_a_message(expression: str, message: str) -> None:
    with pytest.raises(CelRuntimeError) as raised:
        value_of(expression)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(("expression", "message", "column"), TYPE_ERRORS, ids=[row[0] for row in TYPE_ERRORS])
def test_type_error_shows_its_position(expression: str, message: str, column: int) -> None:
    with pytest.raises(CelTypeError) as raised:
        ENVIRONMENT.compile(expression)
    caret = "." * (column - 1) + "^"
    assert str(raised.value) == f"ERROR: <input>:1:{column}: {message}\n | {expression}\n | {caret}"


@pytest.mark.parametrize(("expression", "message"), SYNTAX_ERRORS, ids=[row[0][:20] for row in SYNTAX_ERRORS])
def test_syntax_error_has_the_message_of_the_reference_parser(expression: str, message: str) -> None:
    with pytest.raises(CelSyntaxError) as raised:
        ENVIRONMENT.compile(expression)
    assert str(raised.value).startswith(message)


def test_all_type_errors_are_reported_in_text_order() -> None:
    with pytest.raises(CelTypeError) as raised:
        ENVIRONMENT.compile("foo == 1\n && bar == 2")
    assert str(raised.value) == (
        "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^\n"
        "ERROR: <input>:2:5: undeclared reference to 'bar' (in container '')\n |  && bar == 2\n | ....^"
    )


def test_a_missing_binding_is_a_runtime_error() -> None:
    with pytest.raises(CelRuntimeError, match=r"no such attribute\(s\): x"):
        ENVIRONMENT.compile("x == 1").evaluate({}, Budget())


def test_data_of_another_type_than_declared_is_a_runtime_error() -> None:
    with pytest.raises(CelRuntimeError, match="no such overload"):
        ENVIRONMENT.compile("x < 1").evaluate({"x": "a"}, Budget())


def test_a_program_does_not_change_its_data() -> None:
    items = [3, 1, 2]
    assert ENVIRONMENT.compile("(l + [4]).sort()").evaluate({"l": items}, Budget()) == [1, 2, 3, 4]
    assert items == [3, 1, 2]


CHAINS = {
    "sum": "1" + " + 1" * 249 + " == 250",
    "text": "'a'" + " + 'a'" * 249 + " != ''",
    "calls": "'a'" + ".trim()" * 249 + " == 'a'",
    "fields": "!has(dyn({})" + ".a" * 246 + ") || true",
    "comparison of a rule": "!has(dyn({}).a) || " + "+".join(["x"] * 250) + " > 0",
    "condition": "!(" + "+".join(["1"] * 250) + " < 0)",
    "argument": "dyn([" + "+".join(["1"] * 249) + "])[0] == 249",
    "conjunction": " && ".join(["x == x"] * 1000),
}


@pytest.mark.parametrize("expression", CHAINS.values(), ids=CHAINS)
def test_a_chain_as_long_as_in_kubernetes_compiles_at_any_depth_of_the_stack(expression: str) -> None:
    def deep(frames: int) -> Any:
        return deep(frames - 1) if frames else value_of(expression)

    assert deep(300) is True
    assert estimate(ENVIRONMENT.compile(expression).root, {}).high > 30
