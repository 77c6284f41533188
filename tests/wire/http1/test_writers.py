"""Writers refuse values that would split a message, or make it longer than its headers state."""

import pytest

from sampan.wire.http1 import BadStep, BodyWriter, ExchangeState, Repeated, Transition, request_head, response_head

SPLITTING = ["a\r\nb: c", "a\nb: c", "a\rb", "a\0b", "a\r\n\r\nGET / HTTP/1.1"]


@pytest.mark.parametrize("value", SPLITTING)
def test_a_value_that_ends_its_line_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        request_head("GET", "/", [("host", "h"), ("x", value)])
    with pytest.raises(ValueError, match="line break"):
        request_head("GET", "/", [("host", "h"), ("x", Repeated.of(["a", value]))])
    with pytest.raises(ValueError, match="line break"):
        response_head(200, [("x", value)])


@pytest.mark.parametrize("name", ["a b", "a:", "", "a\r\nb", "ä"])
def test_a_name_that_is_no_token_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="header name"):
        request_head("GET", "/", [(name, "x")])


@pytest.mark.parametrize("target", ["", "/a b", "/a\r\nb", "/\x7f"])
def test_a_target_that_ends_the_request_line_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="target"):
        request_head("GET", target, [])


@pytest.mark.parametrize("method", ["", "A B", "GET\r\n"])
def test_a_method_that_is_no_token_is_refused(method: str) -> None:
    with pytest.raises(ValueError, match="method"):
        request_head(method, "/", [])


def test_a_repeated_value_has_a_line_for_each() -> None:
    head = request_head("GET", "/", [("impersonate-group", Repeated.of(["a,b", "c"]))])
    assert head == b"GET / HTTP/1.1\r\nimpersonate-group: a,b\r\nimpersonate-group: c\r\n\r\n"


def test_a_body_is_not_longer_than_its_length() -> None:
    writer = BodyWriter(length=5)
    assert writer.data(b"hell") == b"hell"
    assert not writer.complete
    with pytest.raises(ValueError, match="longer"):
        writer.data(b"oo")


def test_an_empty_piece_does_not_end_a_chunked_body() -> None:
    writer = BodyWriter(chunked=True)
    assert (writer.data(b""), writer.data(b"a"), writer.end()) == (b"", b"1\r\na\r\n", b"0\r\n\r\n")


def test_a_connection_is_reusable_when_both_halves_are_complete() -> None:
    state = ExchangeState()
    for _ in range(2):
        state.step_request(Transition.HEAD)
        state.step_response(Transition.HEAD)
        state.step_response(Transition.END)
        assert not state.reusable, "the request is not complete"
        state.step_request(Transition.END)
        assert state.reusable
        state.restart()


@pytest.mark.parametrize("step", list(Transition))
def test_a_response_without_a_request_is_an_error(step: Transition) -> None:
    with pytest.raises(BadStep):
        ExchangeState().step_response(step)


def test_a_connection_that_a_side_closes_is_not_reusable() -> None:
    state = ExchangeState()
    state.step_request(Transition.HEAD)
    state.step_request(Transition.END)
    state.step_response(Transition.HEAD)
    state.step_response(Transition.END)
    state.keep_alive = False
    with pytest.raises(BadStep):
        state.restart()
