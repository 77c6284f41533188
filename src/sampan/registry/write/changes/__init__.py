"""Changes of a write that a request makes: `Creation`, `Replacement`, `Patch` and `Application` (server-side apply).

Their inputs are the body, the options, the log of audit, and the warnings of the write. They know no HTTP request.
"""
