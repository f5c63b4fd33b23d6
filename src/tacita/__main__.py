"""`python -m tacita`."""

from tacita.cli import main

main()
