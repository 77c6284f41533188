"""The built-in resources by the names under which the controllers know them. New ones belong into `sampan.loops`."""

from sampan.loops.resources import *  # noqa: F403 (all of them, whoever adds one)
