"""`kubectl sampan`: a kubectl plugin with further views of objects. Only `trace` needs Sampan's server."""
