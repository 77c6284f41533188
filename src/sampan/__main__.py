"""`python -m sampan` is the `sampan` command."""

from sampan.cli.main import main

if __name__ == "__main__":
    main()
