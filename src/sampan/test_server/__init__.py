"""Servers for tests: in memory, each in a process, with few control loops and optional faults.

    with serving() as endpoint:               # or: sampan test -- go test ./...
        subprocess.run(["go", "test"], env={**os.environ, **endpoint.environment})

A warm parent process has imported everything and forks a process for each server, so a server is ready in tens of
milliseconds. It is started on demand, accepts only clients of the same user, and exits when it has been idle for
minutes.
"""

from sampan.test_server.endpoint import Endpoint, ServerFailed, serving

__all__ = ["Endpoint", "ServerFailed", "serving"]
