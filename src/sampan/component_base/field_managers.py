"""Field managers of the programs that follow what users declare: `LOOPS_MANAGER` and `NODE_MANAGER`.

The dashboard has these names too (`web/src/table/last_change.js`), and does not show their writes as causes.
"""

from typing import Final

LOOPS_MANAGER: Final = "sampan-loops"
"""Manager of processes with controllers or a scheduler. Such a process may run nodes too."""
NODE_MANAGER: Final = "sampan-node"
"""Manager of processes with nodes alone."""
