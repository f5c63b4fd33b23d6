"""Start the app: on this computer alone, on a free port, with a token that is drawn anew each time."""

from __future__ import annotations

import contextlib
import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from tacita.app import folder as folders
from tacita.app.desk import Desk
from tacita.app.guard import Guard
from tacita.app.pages.data import begin_to_open
from tacita.app.server import Files, shiny_app

HOST = "127.0.0.1"


def serve(
    file: Path | None, *, port: int = 0, open_browser: bool = True, say: Callable[[str], None] = lambda text: None
) -> None:
    """Run the app until it is stopped; its folder is removed whatever happens."""
    token = secrets.token_urlsafe(24)
    own = folders.own_folder()
    desk = Desk(folder=own)
    # Shiny's own uploads, of which there are none, would lie there too.
    try:
        with socket.create_server((HOST, port)) as listening:
            number = listening.getsockname()[1]
            address = f"http://{HOST}:{number}/?token={token}"
            desk.worker.warm()
            if file is not None:
                begin_to_open(desk, str(file.resolve()), name=file.name)
            inner = Guard(Files(desk, own, shiny_app(desk)), token, number)
            config = uvicorn.Config(
                inner, log_level="error", access_log=False, ws="websockets-sansio", server_header=False
            )
            say(f"The app is at {address}\nIt listens to this computer alone; end it with Ctrl-C.")
            if open_browser:
                webbrowser.open(address)
            with contextlib.suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listening])
    finally:
        desk.close()
        folders.remove(own)
