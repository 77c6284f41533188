"""Scripts of the engines. They run in the image of a ledger, with its volume at /data and that of a backup at /backup.

Each script may run again after it was stopped anywhere: a file gets its final name when it is whole.
"""

from typing import Final

BACKUP: Final = """
exec 2> /dev/termination-log; set -e; cd /backup
{dump}
sync; mv part copy
checksum=$(sha256sum < copy); bytes=$(wc -c < copy)
echo ${{checksum%% *}} $bytes > /dev/termination-log
"""
"""Copies a ledger. The report is the checksum and the size; of a failure, the error."""
RESTORE: Final = """
exec 2> /dev/termination-log; set -e; cd /data
echo "$CHECKSUM  /backup/copy" | sha256sum -c
{load}
sync
"""
"""Fills a new volume from a copy."""
DUMP: Final = {
    "sqlite": """rm -f part; python3 -c '
import sqlite3; url = "file:/data/ledger.db?mode=rw"
lock = sqlite3.connect(url, uri=True, timeout=60, isolation_level=None)
lock.execute("BEGIN IMMEDIATE")  # Writers wait until this process ends, also if it is killed.
sqlite3.connect(url, uri=True).backup(copy := sqlite3.connect("part"))
assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
'""",
    "postgresql": "PATH=$PATH:$(echo /usr/lib/postgresql/*/bin); pg_dump -h /data -U postgres > part",
}
"""Writes a consistent copy to `part`, by engine. A server of PostgreSQL listens on a socket in its volume."""
LOAD: Final = {
    "sqlite": "cp /backup/copy part; mv part ledger.db",
    "postgresql": """PATH=$PATH:$(echo /usr/lib/postgresql/*/bin); rm -rf part
initdb -D part -U postgres --auth=trust --no-locale --encoding=UTF8 > /dev/null
pg_ctl -w -D part -l /dev/null -o "-k /data -h ''" start > /dev/null
psql -h /data -U postgres -q -1 -v ON_ERROR_STOP=1 -f /backup/copy > /dev/null
pg_ctl -w -D part stop > /dev/null; rm -rf pgdata; mv part pgdata""",
}
"""Makes the files of a ledger from the copy, by engine."""
