"""Names of the client CAs in the TLS CertificateRequest, by which clients with several certificates choose one.

Python's ssl module cannot set them, so this module calls OpenSSL directly, once for each loaded context. If OpenSSL's
symbols are not accessible (another interpreter, a static build), the request names no CAs. Clients then choose as if
all CAs were accepted.

Source: Go crypto/tls handshake_server.go (ClientCAs.Subjects()).
"""

import ctypes
import logging
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

_log = logging.getLogger("sampan.tls")

_CONTEXT_OFFSET = object.__basicsize__
"""`SSL_CTX *` is the first field of CPython's SSLContext."""


def name_client_cas(context: ssl.SSLContext, files: Sequence[Path]) -> bool:
    """Add the certificates in PEM files to `context` as acceptable CAs. Return False if that is not possible."""
    library = _openssl()
    if library is None or not files:
        return False
    first, *others = [str(file).encode() for file in files]
    names = library.SSL_load_client_CA_file(first)
    if not names:
        return False
    for file in others:
        library.SSL_add_file_cert_subjects_to_stack(names, file)
    library.SSL_CTX_set_client_CA_list(_pointer(context), names)  # takes ownership of the list
    return True


def _pointer(context: ssl.SSLContext) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(id(context) + _CONTEXT_OFFSET)


def _openssl() -> Any | None:
    """Return the OpenSSL library that the ssl module is linked to. Another copy of OpenSSL could not read the ssl
    module's contexts.
    """
    if sys.implementation.name != "cpython":
        return None
    try:
        library = cast(Any, ctypes.CDLL(ssl._ssl.__file__))  # type: ignore[attr-defined]  # the extension module
        library.SSL_load_client_CA_file.restype = ctypes.c_void_p
        library.SSL_load_client_CA_file.argtypes = [ctypes.c_char_p]
        library.SSL_add_file_cert_subjects_to_stack.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        library.SSL_CTX_set_client_CA_list.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        library.SSL_CTX_set_client_CA_list.restype = None
    except (AttributeError, OSError) as error:
        _log.info("cannot call OpenSSL; the TLS CertificateRequest names no CAs", extra={"error": str(error)})
        return None
    return library
