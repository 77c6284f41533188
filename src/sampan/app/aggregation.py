"""Settings of the aggregation layer, from those of a server."""

import os
import ssl
from dataclasses import replace

from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings
from sampan.core.tls.trust import unverified_context
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.pki.directory import ServerCredentials


def aggregation_settings(settings: UpSettings, credentials: ServerCredentials) -> AggregationSettings:
    """Return the settings. The default client certificate is that of the data directory. Raises `StartError`."""
    found = settings.aggregation
    if found.client_certificate is None:
        files = (credentials.front_proxy_certificate_file, credentials.front_proxy_key_file)
        found = replace(found, client_certificate=files[0], client_key=files[1])
    certificate, key = found.client_certificate, found.client_key
    for file in (certificate, key):
        if file is not None and not os.access(file, os.R_OK):
            raise StartError(f"cannot read {file}")
    try:
        if certificate is not None:
            unverified_context().load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise StartError(f"cannot use {certificate} and {key}: {error}") from error
    return found
