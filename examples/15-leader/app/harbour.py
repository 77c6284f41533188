"""An application without election: a store, and writers of which one at a time writes.

python3 harbour.py store PORT DIRECTORY     # refuses a write with an older epoch; one line for each write
python3 harbour.py write URL DIRECTORY NAME     # writes while the file `role` in the directory contains leader
"""

import sys
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


def store(port: int, directory: Path) -> None:
    """Serve POST /EPOCH/NAME until the process ends."""
    newest = 0

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            nonlocal newest
            _, epoch, name = self.path.split("/")
            accepted = int(epoch) >= newest
            newest = max(newest, int(epoch))
            if accepted:
                with (directory / "writes").open("a") as file:
                    file.write(f"{epoch} {name}\n")
            self.send_response(200 if accepted else 409)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    HTTPServer(("", port), Handler).serve_forever()


def write(url: str, directory: Path, name: str) -> None:
    """Write as fast as the store takes it while this Pod leads."""
    while True:
        if (directory / "role").read_text() == "leader":
            epoch = (directory / "epoch").read_text()
            try:
                urllib.request.urlopen(urllib.request.Request(f"{url}/{epoch}/{name}", method="POST"), timeout=2)
            except (urllib.error.URLError, OSError) as error:
                print(f"epoch {epoch}: {error}", flush=True)
        time.sleep(0.1)


if __name__ == "__main__":
    if sys.argv[1] == "store":
        store(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        write(sys.argv[2], Path(sys.argv[3]), sys.argv[4])
