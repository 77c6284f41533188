"""/debug/pprof: where the server's time and memory go, in the forms that `go tool pprof` reads."""
