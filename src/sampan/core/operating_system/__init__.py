"""Parts of the operating system behind small interfaces: child processes, files and terminals."""
