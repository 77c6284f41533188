"""Runs the operator: python -m upgrades --help."""

from sampan.operator import main

from upgrades.app import set_up

if __name__ == "__main__":
    main(set_up, name="upgrades")
