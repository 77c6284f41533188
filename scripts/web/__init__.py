"""Build of the web page that the server serves at `/dashboard/`: `make web`.

It needs Node and npm, and the first time a package registry. Without them everything else of the project works.
"""
