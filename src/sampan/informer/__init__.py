"""Local copies of what the server holds, kept up by watching, with handlers told of each change."""
