"""`python -m sampan.cli`: the `sampan` command."""

from sampan.cli.entry import sampan

if __name__ == "__main__":
    sampan()
