"""Regenerate the data files of built-in kinds from Kubernetes' published files, and report what a new version changes.

Run it with `make kinds` and `make kinds-report`; `docs/moving-to-the-next-minor.md` shows both. Each module makes the
content of one file:

| module | file | from |
|---|---|---|
| `resources` | `registry/data/resources.json` | the discovery documents |
| `go_fields` | `registry/data/fields.json` | the Go types of the API |
| `defaults` | `registry/data/defaults.json` | the OpenAPI v3 documents |
| `messages` | `wire/protobuf/messages.json` | `generated.proto` and the Go types |
| `schemas` | `registry/data/schemas.bin` | the OpenAPI v2 document and the files above |

Nothing here is part of the installed package.
"""
