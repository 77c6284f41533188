"""`FROM_THE_NEWEST_STATE`, `NEXT_TO_THE_SERVER`: settings of the informers of control loops.

A loop that starts from an old state repeats its earlier work: a Job would create again the Pods that it has counted.
Streaming lists begin with the newest state. With these settings, a plain list does so too. It is used if a streaming
list breaks or is not supported.
Source: client-go tools/cache/reflector.go `watchList` (1.36): kube-controller-manager starts from the newest state.
"""

from typing import Final

from sampan.informer.settings import InformerSettings, ReflectorSettings

FROM_THE_NEWEST_STATE: Final = InformerSettings(ReflectorSettings(newest=True))
NEXT_TO_THE_SERVER: Final = InformerSettings(ReflectorSettings(newest=True, watch_s_min=1800.0, watch_s_max=3600.0))
"""Informers of loops that the server starts itself. Their watches need not move to other servers, so they last as long
as the server's default. Replacing 85 watches every 5 to 10 minutes took a third of an idle server's processor time.
"""
