"""`python -m horsies`: the command line."""

from horsies.entrypoints.cli.main import main

main(prog_name="horsies")
