"""`python -m sampan.cli`: the same as the `sampan` command."""

from sampan.cli.entry import sampan

if __name__ == "__main__":
    sampan()
