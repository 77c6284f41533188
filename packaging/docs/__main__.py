"""Serve the documentation: `python -m sampan_docs`."""

import sys

from sampan_docs.serve import main

sys.exit(main())
