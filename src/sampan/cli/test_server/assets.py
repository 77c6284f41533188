"""`sampan test assets`: print a directory for KUBEBUILDER_ASSETS."""

from pathlib import Path

import click

from sampan.test_server.assets import assets_directory, write_assets


@click.command("assets")
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory for the programs.  [default: one in ~/.cache]",
)
def assets_command(directory: Path | None) -> None:
    """Write kube-apiserver, etcd and kubectl for envtest to a directory, and print its path.

    KUBEBUILDER_ASSETS=$(sampan test assets) go test ./...
    """
    try:
        click.echo(write_assets(directory or assets_directory()))
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}; use --dir") from error
