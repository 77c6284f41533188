"""ConfigMaps and Secrets."""

from base64 import b64decode
from collections.abc import Iterator
from typing import Final

from sampan.cli.objects.describers.describer import DescribedObject, Describer, rows
from sampan.cli.objects.describers.values import ANNOTATIONS, LABELS, NAME, NAMESPACE

_TOKEN_TYPE: Final = "kubernetes.io/service-account-token"


def _config_map_data(subject: DescribedObject) -> Iterator[str]:
    yield from ("", "Data", "====")
    for key, value in sorted((subject.obj.get("data") or {}).items()):
        yield from (f"{key}:", "----")
        # A tab would start a column.
        yield from value.expandtabs().split("\n")
        yield ""
    yield from ("", "BinaryData", "====")
    for key, value in sorted((subject.obj.get("binaryData") or {}).items()):
        yield f"{key}: {len(b64decode(value))} bytes"
    yield ""


def _secret_data(subject: DescribedObject) -> Iterator[str]:
    """Yield the sizes of the values. Only the token of a service account is shown, as in kubectl."""
    kind = subject.obj.get("type", "")
    yield from ("", f"Type:\t{kind}", "", "Data", "====")
    for key, value in sorted((subject.obj.get("data") or {}).items()):
        decoded = b64decode(value)
        is_token = kind == _TOKEN_TYPE and key == "token"
        yield f"{key}:\t{decoded.decode(errors='replace') if is_token else f'{len(decoded)} bytes'}"
    yield ""


CONFIG_MAP: Final = Describer((rows(NAME, NAMESPACE, LABELS, ANNOTATIONS), _config_map_data))
SECRET: Final = Describer((rows(NAME, NAMESPACE, LABELS, ANNOTATIONS), _secret_data))
