"""Release artefacts, made by one command: `make release`."""
