"""The built-in control loops, one module or package each. They use only the client half of the project."""
