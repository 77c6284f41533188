"""Images of the Open Container Initiative: read, build, write and push them, without a container engine or root.

`Registry` and `LayoutSource` read, `add_layer`, `add_image` and `add_index` build, `write_layout`, `write_archive` and
`push` write them. Everything is a blob in a `BlobStore`, by digest.
"""
