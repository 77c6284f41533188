"""The views by the names under which the controllers know them. New ones belong into `sampan.loops`."""

from sampan.loops.views import *  # noqa: F403 (all of them, whoever adds one)
