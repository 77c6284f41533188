"""/debug/pprof: CPU and memory profiles of the server in the formats of `go tool pprof`."""
