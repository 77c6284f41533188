"""Serving certificate in --cert-dir, if no option names another one.

Source: apiserver pkg/server/options/serving.go MaybeDefaultWithSelfSignedCerts (1.36).
"""

from collections.abc import Callable
from dataclasses import replace

from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings
from sampan.server.pki.directory import ServerCredentials, write_private


def with_cert_dir(settings: UpSettings, credentials: Callable[[], ServerCredentials]) -> UpSettings:
    """Return the settings with the files of --cert-dir as serving certificate.

    A directory without them gets the certificate that the server makes for itself (`credentials`). Later starts use
    this certificate too and do not renew it, as in kube-apiserver. Raises `StartError`.
    """
    if settings.cert_dir is None or settings.tls_cert_file is not None:
        return settings
    certificate, key = settings.cert_dir / "apiserver.crt", settings.cert_dir / "apiserver.key"
    if not (certificate.exists() and key.exists()):
        made = credentials()
        try:
            settings.cert_dir.mkdir(parents=True, exist_ok=True)
            write_private(key, made.serving_key_file.read_bytes())
            write_private(certificate, made.serving_certificate_file.read_bytes())
        except OSError as error:
            raise StartError(f"--cert-dir: cannot write {error.filename or certificate}: {error.strerror}") from error
    return replace(settings, tls_cert_file=certificate, tls_private_key_file=key)
