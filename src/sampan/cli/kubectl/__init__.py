"""`kubectl sampan`: a plug-in of kubectl that looks at objects in its own ways; `trace` alone needs Sampan's server."""
