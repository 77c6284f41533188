"""Cipher suites of TLS 1.2: the names that `--tls-cipher-suites` takes, and those that servers use without the option.

OpenSSL's own defaults also contain suites with CBC and SHA-256 or SHA-384, and suites with DHE. Go's servers do not
offer them.

Source: Go crypto/tls cipher_suites.go, defaults.go (1.26); kubernetes component-base cli/flag/ciphersuites_flag.go
(1.36).
"""

import ssl
from collections.abc import Iterable
from typing import Final

DEFAULT: Final = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
}
"""Suites of a server without the option, in order of preference: Go's name → OpenSSL's name."""

INSECURE: Final = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
}
"""Suites that a server has only if the option names them. OpenSSL has none of Go's suites with RC4 and 3DES."""

_OLD_NAMES: Final = {
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
}
_OF_TLS_1_3: Final = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
_TLS_1_2: Final = {**DEFAULT, **INSECURE, **_OLD_NAMES}

NAMES: Final = (*_TLS_1_2, *_OF_TLS_1_3)
"""Names that the option takes. Those of TLS 1.3 have no effect: its suites are always on, as in Go."""


def use_suites(context: ssl.SSLContext, names: Iterable[str] = ()) -> None:
    """Set the suites of TLS 1.2 of a server's context: those of `NAMES` in `names`, or the default ones.

    If only suites of TLS 1.3 are named, TLS 1.2 is refused.
    """
    chosen = tuple(names)
    suites = [_TLS_1_2[name] for name in chosen if name in _TLS_1_2] if chosen else list(DEFAULT.values())
    if suites:
        context.set_ciphers(":".join(suites))
    else:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
