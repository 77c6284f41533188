"""Protobuf classes from a table of messages."""

from sampan.rpc.proto_table import message_classes

TABLE = """
Row: bytes key=1, int64 revision=3

Rows: *Row rows=2, string name=4, bool more=5
Empty:
"""


def test_a_message_survives_encoding_and_decoding() -> None:
    classes = message_classes("test.rows", TABLE)
    rows = classes["Rows"](rows=[classes["Row"](key=b"a", revision=-1), classes["Row"]()], name="ä", more=True)
    assert classes["Rows"].FromString(rows.SerializeToString()) == rows


def test_fields_have_the_wire_form_of_their_number_and_type() -> None:
    row = message_classes("test.wire", TABLE)["Row"](key=b"a", revision=300)
    assert row.SerializeToString() == b"\x0a\x01a\x18\xac\x02"


def test_fields_that_the_table_leaves_out_are_skipped() -> None:
    row = message_classes("test.more", TABLE)["Row"].FromString(b"\x0a\x01a\x10\x07\x18\x05")
    assert (row.key, row.revision) == (b"a", 5)


def test_two_tables_may_define_the_same_name() -> None:
    one, other = message_classes("test.same", "Row: int32 a=1"), message_classes("test.same", "Row: string b=1")
    assert (one["Row"](a=1).a, other["Row"](b="x").b) == (1, "x")
