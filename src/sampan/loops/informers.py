"""`FROM_THE_NEWEST_STATE`: settings of the informers of control loops.

A loop that starts from an old state repeats its earlier work: a Job would create again the Pods that it has counted.
Streaming lists begin with the newest state. With these settings, a plain list does so too. It is used if a streaming
list breaks or is not supported.
Source: client-go tools/cache/reflector.go `watchList` (1.36): kube-controller-manager starts from the newest state.
"""

from typing import Final

from sampan.informer.settings import InformerSettings, ReflectorSettings

FROM_THE_NEWEST_STATE: Final = InformerSettings(ReflectorSettings(newest=True))
