"""The built-in control loops, one file each. They use the client's half of the project and nothing else."""
