"""The program: `tacita`, `python -m tacita`. It can be stopped from its first moment on."""

from __future__ import annotations

from tacita.stopping import end_undisturbed, run_stoppable


def main() -> None:
    """Load the command line, which takes a while, and run it."""
    try:
        run_stoppable(_run)
    finally:
        end_undisturbed()


def _run() -> None:
    from tacita.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
