"""Parse an expression into a tree.

Source: the grammar of CEL (cel-go parser/parser.go, 0.26), including the offsets of operators and the reserved names.
"""

from collections.abc import Collection

from sampan.core.event_loop.offload import charge
from sampan.schema.cel.errors import CelSyntaxError, Issue, render
from sampan.schema.cel.syntax import macros
from sampan.schema.cel.syntax.ast import Call, Expr, Ident, ListNode, Literal, MapNode, Select, StructNode, depth
from sampan.schema.cel.syntax.lexer import Token, tokens
from sampan.schema.cel.syntax.syntax_messages import (
    END,
    EXPRESSION,
    FIELD_NAME,
    OPERATORS,
    extraneous,
    kind_of,
    no_alternative,
    unexpected,
)

EXPRESSION_LENGTH_MAX = 100_000
"""Length limit of an expression in code points."""
_STEPS = 5
"""Steps (see `core/event_loop/offload.py`) of compiling the smallest expression, all passes together."""
_STEPS_OF_CHARACTER = 10
"""Steps of compiling a character of a dense expression: about 20 μs."""
_DEPTH_MAX = 251
_NESTING_MAX = 100
_RESERVED = frozenset(
    (
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "package", "namespace", "null", "return", "true", "var", "void", "while",
    )
)  # fmt: skip
_LEVELS: dict[str, tuple[int, str]] = {
    "||": (1, "_||_"),
    "&&": (2, "_&&_"),
    "<": (3, "_<_"),
    "<=": (3, "_<=_"),
    ">=": (3, "_>=_"),
    ">": (3, "_>_"),
    "==": (3, "_==_"),
    "!=": (3, "_!=_"),
    "in": (3, "@in"),
    "+": (4, "_+_"),
    "-": (4, "_-_"),
    "*": (5, "_*_"),
    "/": (5, "_/_"),
    "%": (5, "_%_"),
}


class _Unexpected(Exception):
    def __init__(self, token: Token, message: str) -> None:
        super().__init__(message)
        self.issue = Issue(token.offset, message)


def _balanced(function: str, terms: list[Expr], offsets: list[int]) -> Expr:
    """Build a balanced tree from a chain of && or ||, so that long chains stay shallow."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    left = _balanced(function, terms[:middle], offsets[: middle - 1])
    right = _balanced(function, terms[middle:], offsets[middle:])
    return Call(offsets[middle - 1], function, [left, right])


class _Parser:
    def __init__(self, source: str, found: list[Token], bindings: bool) -> None:
        self._source = source
        self._tokens = found
        self._bindings = bindings
        self._position = 0
        self._nesting = 0
        self._closers: list[tuple[str, ...]] = [(END,)]
        """Tokens that may end the enclosing expressions, the innermost last."""
        self.issues: list[Issue] = []

    def parse(self) -> Expr:
        node = self._expression()
        if self._peek().kind != "end":
            raise self._unexpected({END})
        return node

    def _unexpected(self, expected: Collection[str], after_missing: Collection[str] = ()) -> _Unexpected:
        token = self._peek()
        following = self._tokens[min(self._position + 1, len(self._tokens) - 1)]
        return _Unexpected(token, unexpected(token, following, expected, after_missing=after_missing))

    def _peek(self) -> Token:
        return self._tokens[self._position]

    def _next(self) -> Token:
        token = self._tokens[self._position]
        self._position += 1
        return token

    def _no_alternative(self, before: Token) -> _Unexpected:
        token = self._peek()
        end = token.offset if token.kind == "end" else token.offset + len(token.text)
        return _Unexpected(token, no_alternative(self._source[before.offset : end]))

    def _accept(self, text: str) -> Token | None:
        token = self._tokens[self._position]
        if token.kind == "op" and token.text == text:
            self._position += 1
            return token
        return None

    def _expect(self, text: str) -> Token:
        token = self._accept(text)
        if token is None:
            after = EXPRESSION if text == ":" else OPERATORS.union(self._closers[-1])
            raise self._unexpected({text}, after)
        return token

    def _inside(self, *closers: str, also: tuple[str, ...] = ()) -> Expr:
        """Parse an expression that ends before one of `closers`. `also`: tokens that may occur instead of the
        expression.
        """
        if also and self._peek().kind in ("op", "end") and kind_of(self._peek()) not in EXPRESSION:
            raise self._unexpected(EXPRESSION.union(also))
        self._closers.append(closers)
        node = self._expression()
        self._closers.pop()
        return node

    def _expression(self) -> Expr:
        self._nesting += 1
        if self._nesting > _NESTING_MAX:
            raise _Unexpected(self._peek(), f"expression recursion limit exceeded: {_NESTING_MAX}")
        node = self._binary(1)
        question = self._accept("?")
        if question is not None:
            self._closers.append((":",))
            chosen = self._binary(1)
            self._closers.pop()
            self._expect(":")
            node = Call(question.offset, "_?_:_", [node, chosen, self._expression()])
        self._nesting -= 1
        return node

    def _binary(self, level: int) -> Expr:
        left = self._unary()
        while True:
            token = self._peek()
            found = _LEVELS.get(token.text) if token.kind == "op" else None
            if found is None or found[0] < level:
                return left
            if found[0] <= 2:
                left = self._logical(left, token.text, *found)
                continue
            self._position += 1
            left = Call(token.offset, found[1], [left, self._binary(found[0] + 1)])

    def _logical(self, first: Expr, text: str, level: int, function: str) -> Expr:
        terms: list[Expr] = [first]
        offsets: list[int] = []
        while True:
            token = self._accept(text)
            if token is None:
                return _balanced(function, terms, offsets)
            offsets.append(token.offset)
            terms.append(self._binary(level + 1))

    def _unary(self) -> Expr:
        token = self._peek()
        if token.kind != "op" or token.text not in ("!", "-"):
            return self._member()
        count = 0
        while self._accept(token.text):
            count += 1
        if not self._starts_member():
            if token.text == "-":
                raise self._no_alternative(self._tokens[self._position - 1])
            raise _Unexpected(self._peek(), extraneous(self._peek(), EXPRESSION))
        # A single minus is the sign of a number; several are operators.
        if token.text == "-" and count == 1 and self._peek().kind in ("int", "float"):
            return self._member(sign=token)
        inner = self._member()
        if count % 2 == 0:
            return inner
        return Call(token.offset, "!_" if token.text == "!" else "-_", [inner])

    def _starts_member(self) -> bool:
        kind = kind_of(self._peek())
        if kind == "-":
            return self._tokens[self._position + 1].kind in ("int", "float")
        return kind in EXPRESSION and kind != "!"

    def _member(self, sign: Token | None = None) -> Expr:
        node = self._literal(self._next(), sign) if sign is not None else self._primary()
        while True:
            token = self._peek()
            if token.kind != "op" or token.text not in (".", "["):
                return node
            self._position += 1
            node = self._select(node, token) if token.text == "." else self._index(node, token)

    def _select(self, node: Expr, dot: Token) -> Expr:
        optional = self._accept("?") is not None
        if self._peek().kind not in ("name", "escaped"):
            if optional:
                raise self._unexpected(FIELD_NAME)
            raise self._no_alternative(dot)
        name = self._field_name()
        opening = None if optional else self._accept("(")
        if opening is None:
            return Select(dot.offset, node, name.text, optional=optional)
        return self._call(opening.offset, name.text, node, self._arguments(")"))

    def _field_name(self) -> Token:
        """Return the next token, a name. A name in backquotes is an issue: Kubernetes does not enable this syntax."""
        name = self._next()
        if name.kind == "escaped":
            self.issues.append(Issue(name.offset, "unsupported syntax: '`'"))
        return name

    def _index(self, node: Expr, bracket: Token) -> Expr:
        optional = self._accept("?") is not None
        function = "_[?_]" if optional else "_[_]"
        index = self._inside("]", also=() if optional else ("?",))
        self._expect("]")
        return Call(bracket.offset, function, [node, index])

    def _call(self, offset: int, function: str, target: Expr | None, args: list[Expr]) -> Expr:
        try:
            expanded = macros.expand(offset, function, target, args, bindings=self._bindings)
        except macros.MacroError as error:
            self.issues.append(error.issue)
            return Literal(offset, None)
        return expanded or Call(offset, function, args, target)

    def _arguments(self, closing: str) -> list[Expr]:
        args: list[Expr] = []
        if self._accept(closing):
            return args
        while True:
            args.append(self._inside(",", closing, also=() if args else (closing,)))
            if not self._accept(","):
                self._expect(closing)
                return args

    def _primary(self) -> Expr:
        if kind_of(self._peek()) not in EXPRESSION:
            raise self._unexpected(EXPRESSION)
        token = self._next()
        if token.kind == "name":
            return self._named(token, "")
        if token.kind == "op":
            if token.text == "(":
                node = self._inside(")")
                self._expect(")")
                return node
            if token.text == "[":
                return self._list(token)
            if token.text == "{":
                return MapNode(token.offset, self._entries())
            if token.text == "-" and self._peek().kind in ("int", "float"):
                return self._literal(self._next(), token)
            if token.text == "." and self._peek().kind == "name":
                return self._named(self._next(), ".")
            raise self._no_alternative(token)
        return self._literal(token, None)

    def _literal(self, token: Token, sign: Token | None) -> Expr:
        offset = token.offset if sign is None else sign.offset
        if token.kind == "int":
            number = token.value if sign is None else -token.value
            if not -(1 << 63) <= number < 1 << 63:
                self.issues.append(Issue(offset, "invalid int literal"))
            return Literal(offset, number)
        if token.kind == "float":
            return Literal(offset, token.value if sign is None else -token.value)
        return Literal(offset, token.value)

    def _named(self, token: Token, prefix: str) -> Expr:
        struct_name = self._struct_name(token)
        if struct_name is not None:
            return StructNode(self._tokens[self._position - 1].offset, prefix + struct_name, self._fields())
        if token.text in _RESERVED:
            self.issues.append(Issue(token.offset, f"reserved identifier: {token.text}"))
        opening = self._accept("(")
        if opening is not None:
            return self._call(opening.offset, prefix + token.text, None, self._arguments(")"))
        return Ident(token.offset, prefix + token.text)

    def _struct_name(self, token: Token) -> str | None:
        """Return the dotted name if `{` follows it, and consume both; else None."""
        names, position = [token.text], self._position
        while self._tokens[position].text == "." and self._tokens[position + 1].kind == "name":
            names.append(self._tokens[position + 1].text)
            position += 2
        if self._tokens[position].kind != "op" or self._tokens[position].text != "{":
            return None
        self._position = position + 1
        return ".".join(names)

    def _fields(self) -> list[tuple[int, str, Expr, bool]]:
        fields: list[tuple[int, str, Expr, bool]] = []
        if self._closed("}"):
            return fields
        while True:
            optional = self._accept("?") is not None
            if self._peek().kind not in ("name", "escaped"):
                raise self._unexpected(FIELD_NAME if optional else FIELD_NAME.union(("}", ",", "?")))
            name = self._field_name()
            colon = self._expect(":")
            fields.append((colon.offset, name.text, self._inside(",", "}"), optional))
            if not self._more("}", FIELD_NAME):
                break
        return fields

    def _list(self, bracket: Token) -> Expr:
        elements: list[Expr] = []
        optionals: set[int] = set()
        if self._closed("]"):
            return ListNode(bracket.offset, elements)
        while True:
            optional = self._accept("?") is not None
            if optional:
                optionals.add(len(elements))
            elements.append(self._inside(",", "]", also=() if optional or elements else ("]", ",", "?")))
            if not self._more("]"):
                break
        return ListNode(bracket.offset, elements, frozenset(optionals))

    def _closed(self, closing: str) -> bool:
        """Report whether a literal is empty, and consume its closing bracket; a single comma is allowed."""
        if self._accept(","):
            self._expect(closing)
            return True
        return self._accept(closing) is not None

    def _more(self, closing: str, starts: Collection[str] = EXPRESSION) -> bool:
        """Report whether another element follows; a trailing comma is allowed."""
        if not self._accept(","):
            if self._accept(closing):
                return False
            raise self._unexpected({",", closing})
        if kind_of(self._peek()) in starts or self._peek().text == "?":
            return True
        self._expect(closing)
        return False

    def _entries(self) -> list[tuple[Expr, Expr, bool]]:
        entries: list[tuple[Expr, Expr, bool]] = []
        if self._closed("}"):
            return entries
        while True:
            optional = self._accept("?") is not None
            key = self._inside(":", also=() if optional or entries else ("}", ",", "?"))
            self._expect(":")
            entries.append((key, self._inside(",", "}"), optional))
            if not self._more("}"):
                break
        return entries


def parse(source: str, *, bindings: bool = False) -> Expr:
    """Parse an expression and expand its macros; `bindings` enables `cel.bind(name, value, expression)`.

    Counts the steps of compilation: a parsed expression is also checked, compiled and estimated.

    **Raises** CelSyntaxError with the messages of cel-go's parser, and `TakeThread` if compilation takes too long for
    the event loop.
    """
    charge(_STEPS + _STEPS_OF_CHARACTER * min(len(source), EXPRESSION_LENGTH_MAX))
    if len(source) > EXPRESSION_LENGTH_MAX:
        message = f"expression code point size exceeds limit: size: {len(source)}, limit {EXPRESSION_LENGTH_MAX}"
        raise CelSyntaxError(f"ERROR: <input>:-1:0: {message}")
    found, issues = tokens(source)
    parser = _Parser(source, found, bindings)
    try:
        node = parser.parse()
    except _Unexpected as error:
        raise CelSyntaxError(render(source, [*issues, *parser.issues, error.issue])) from None
    if issues or parser.issues:
        raise CelSyntaxError(render(source, [*issues, *parser.issues]))
    if depth(node) > _DEPTH_MAX:
        raise CelSyntaxError("ERROR: <input>:-1:0: max recursion depth exceeded")
    return node
