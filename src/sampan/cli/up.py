"""`sampan up`: run an API server."""

from pathlib import Path
from typing import Any

import click

from sampan.app.loops.choice import UnknownController, chosen_controllers
from sampan.app.loops.settings import USAGE_ERROR
from sampan.app.main import up
from sampan.app.settings import HTTP2, RUNTIMES, STORAGES, UpSettings
from sampan.cli.apiserver_options import apiserver_options, take_ignored
from sampan.cli.audit_options import audit_options, take_audit
from sampan.cli.authentication_options import authentication_options, take_authentication
from sampan.cli.authorization_options import authorization_options
from sampan.cli.encryption_options import check_encryption_options, encryption_options
from sampan.cli.etcd_options import etcd_options, storage_notes
from sampan.cli.flow_control_options import check_flow_control_options, flow_control_options
from sampan.cli.loop_options import host_and_port
from sampan.cli.node_cidr_options import check_node_cidrs, node_cidr_options
from sampan.cli.proxy_options import check_proxy_options, proxy_options
from sampan.cli.storage_options import storage_options, take_storage
from sampan.controllers.names import NAMES
from sampan.server.sni import CertKey, parse_cert_key
from sampan.server.tls import CIPHER_SUITES, VERSIONS

_FILE = click.Path(dir_okay=False, path_type=Path)
_DEFAULTS = UpSettings()


def _cert_keys(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[CertKey, ...]:
    try:
        return tuple(parse_cert_key(text) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def _names(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _cipher_suites(ctx: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in CIPHER_SUITES:
            raise click.BadParameter(f"{name!r} is none of {', '.join(CIPHER_SUITES)}", ctx, param)
    return names


@click.command("up")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=_DEFAULTS.data,
    show_default=True,
    help="Directory of the database, the certificates and the kubeconfig; made on the first start.",
)
@click.option(
    "--bind", "--bind-address", "bind", default=_DEFAULTS.bind, show_default=True, help="Address to listen on."
)
@click.option(
    "--port",
    "--secure-port",
    "port",
    type=click.IntRange(0, 65535),
    default=_DEFAULTS.port,
    show_default=True,
    help="0 picks a free one.",
)
@click.option("--storage", type=click.Choice(STORAGES), default=_DEFAULTS.storage, show_default=True)
@click.option("--token-auth-file", type=_FILE, help='CSV of tokens: token,user,uid,"group1,group2".')
@click.option("--client-ca-file", type=_FILE, help="Accept client certificates of this CA too.")
@click.option("--tls-cert-file", type=_FILE, help="Serving certificate (with its chain) instead of our own.")
@click.option("--tls-private-key-file", type=_FILE, help="The key of --tls-cert-file.")
@click.option(
    "--tls-sni-cert-key",
    "tls_sni_cert_keys",
    metavar="CERT,KEY[:NAMES]",
    callback=_cert_keys,
    multiple=True,
    help="Certificate and key for clients that ask for these names (*.example.com too), by default for those in the "
    "certificate. May be repeated.",
)
@click.option(
    "--tls-min-version", type=click.Choice(tuple(VERSIONS)), default=_DEFAULTS.tls_min_version, show_default=True
)
@click.option(
    "--tls-cipher-suites",
    default="",
    callback=_cipher_suites,
    help="Of TLS 1.2, by their IANA names, with commas between them.",
)
@click.option(
    "--http2",
    type=click.Choice(HTTP2),
    default=_DEFAULTS.http2,
    show_default=True,
    help="offer: to clients that speak nothing else; HTTP/1.1 takes less of the server.",
)
@click.option(
    "--http2-max-streams-per-connection",
    type=click.IntRange(min=0),
    default=_DEFAULTS.http2_max_streams_per_connection,
    help="Requests that an HTTP/2 connection may have open; 0: 100.",
)
@click.option(
    "--cors-allowed-origin", "cors_allowed_origins", multiple=True, help="Regular expression; may be repeated."
)
@click.option(
    "--profiling",
    type=click.BOOL,
    default=_DEFAULTS.profiling,
    show_default=True,
    help="Answer /debug/pprof/ to those who may do everything.",
)
@click.option(
    "--enable-admission-plugins",
    default="",
    callback=_names,
    metavar="NAMES",
    help="Admission plug-ins besides those that are on. ServiceAccount is on where the serviceaccount-controller makes "
    "the accounts beside the server (--controllers), else only when it is named here.",
)
@click.option(
    "--disable-admission-plugins",
    default="",
    callback=_names,
    metavar="NAMES",
    help="Admission plug-ins to leave out, with commas between them.",
)
@click.option(
    "--admission-control-config-file", type=_FILE, help="AdmissionConfiguration: what admission plug-ins are told."
)
@authorization_options
@click.option(
    "--controllers",
    default=_DEFAULTS.controllers,
    show_default=True,
    help="Control loops beside the server: names with commas between them, * for all, -name to leave one out; '' none.",
)
@click.option(
    "--scheduler/--no-scheduler", default=_DEFAULTS.scheduler, show_default=True, help="Run the scheduler too."
)
@click.option(
    "--loops-probe-address",
    default=_DEFAULTS.loops_probe_address,
    metavar="HOST:PORT",
    callback=host_and_port,
    help="Where the loops beside the server answer /healthz, /readyz and /metrics; by default nowhere.",
)
@click.option(
    "--nodes",
    type=click.IntRange(0, 32768),
    default=_DEFAULTS.nodes,
    show_default=True,
    help="Nodes beside the server: simulated ones, which run Pods as their annotations say, or one of processes.",
)
@click.option(
    "--node-runtime",
    type=click.Choice(RUNTIMES),
    default=_DEFAULTS.node_runtime,
    show_default=True,
    help="process: containers are processes of this machine, as whoever runs the server.",
)
@node_cidr_options
@apiserver_options
@etcd_options
@storage_options
@authentication_options
@audit_options
@click.option("--tracing-config-file", type=_FILE, help="TracingConfiguration: where spans of requests are sent.")
@proxy_options
@flow_control_options
@encryption_options
@click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default=_DEFAULTS.log_level,
    show_default=True,
    help="debug shows every request.",
)
@click.option("--log-format", type=click.Choice(("text", "json")), default=_DEFAULTS.log_format, show_default=True)
@click.option(
    "--shutdown-delay",
    "shutdown_delay_s",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Seconds that /readyz fails before requests are refused.",
)
@click.option(
    "--drain-timeout",
    "drain_timeout_s",
    type=click.FloatRange(min=0),
    default=_DEFAULTS.drain_timeout_s,
    show_default=True,
    help="Seconds that requests under way may take at the end.",
)
def up_command(**options: Any) -> int:
    """Run a Kubernetes API server.

    Prints one line when it serves. The data directory then holds a kubeconfig and admin.token, both with all rights.
    """
    authentication = take_authentication(options)
    audit = take_audit(options)
    take_storage(options)
    notes = (*take_ignored(options), *storage_notes(options))
    check_node_cidrs(dict(options))
    settings = UpSettings(**options, authentication=authentication, audit=audit, notes=notes)
    if (settings.tls_cert_file is None) != (settings.tls_private_key_file is None):
        raise click.UsageError("--tls-cert-file and --tls-private-key-file belong together")
    check_proxy_options(settings)
    check_flow_control_options(settings)
    check_encryption_options(settings)
    try:
        chosen_controllers(settings.controllers, NAMES)
    except UnknownController as error:
        click.echo(f"sampan: error: --controllers: {error}", err=True)
        return USAGE_ERROR
    up(settings, lambda line: click.echo(line))
    return 0
