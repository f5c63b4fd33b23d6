"""The app as a server: Shiny shows the pages and passes on what people do; files come and go beside it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from shiny import App, Inputs, Outputs, Session, reactive
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tacita.app import shell
from tacita.app.actions import act
from tacita.app.desk import Desk
from tacita.app.pages import data as data_page
from tacita.app.project_file import project_text
from tacita.app.script import script
from tacita.check import TacitaError
from tacita.plots.page import bundle
from tacita.release.written import PUBLIC

BEAT = 0.12
"""Seconds between two looks at the worker."""
STATIC = Path(__file__).parent / "static"
KINDS = {".css": "text/css", ".js": "text/javascript", ".html": "text/html", ".csv": "text/csv", ".xml": "text/xml"}


def shiny_app(desk: Desk) -> App:
    """The Shiny application of a desk."""

    def server(input: Inputs, output: Outputs, session: Session) -> None:
        sent: dict[str, str] = {}
        drawn = -1

        async def show() -> None:
            nonlocal drawn
            if desk.version == drawn and not desk.busy:
                return
            if desk.version == drawn:
                made = {"working": str(shell.working(desk) or "")}
            else:
                drawn = desk.version
                made = shell.fragments(desk)
            fresh = {place: text for place, text in made.items() if sent.get(place) != text}
            if fresh:
                sent.update(fresh)
                await session.send_custom_message("fragments", dict[str, object](fresh))

        @reactive.effect
        async def _beat() -> None:
            reactive.invalidate_later(BEAT)
            data_page.opening(desk)
            desk.tick()
            await show()

        @reactive.effect
        @reactive.event(input.act)
        async def _act() -> None:
            given = input.act()
            act(desk, str(given["name"]), given.get("fields") or {})
            desk.tick()
            await show()
            # The window knows now that what is shown follows what was done.
            await session.send_custom_message("fragments", {"heard": str(given.get("at"))})

    return App(shell.skeleton(), server)


class Files:
    """What is asked for besides the pages: scripts and styles, uploads, downloads; the rest is Shiny's."""

    def __init__(self, desk: Desk, folder: Path, inner: Any) -> None:
        self.desk = desk
        self.folder = folder
        self.inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or pass the request on."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith(("/own/", "/upload", "/download/")):
            await self.inner(scope, receive, send)
            return
        if path.startswith("/own/"):
            answer = static(path.removeprefix("/own/"))
        elif path.startswith("/upload") and scope["method"] == "POST":
            answer = await self._upload(Request(scope, receive))
        else:
            answer = self._download(path.removeprefix("/download/"))
        await answer(scope, receive, send)

    async def _upload(self, request: Request) -> Response:
        """Keep a file that was chosen in the browser, readable by its owner alone, and open it."""
        import os
        import secrets

        name = Path(request.query_params.get("name", "file")).name or "file"
        target = self.folder / f"{secrets.token_hex(8)}{Path(name).suffix.lower()[:12]}"
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in request.stream():
                file.write(piece)
        data_page.begin_to_open(self.desk, str(target), name=name, uploaded=True)
        return PlainTextResponse("ok")

    def _download(self, name: str) -> Response:
        try:
            found = download(self.desk, name)
        except TacitaError as error:
            return PlainTextResponse(str(error), status_code=409)
        if found is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        kind = KINDS.get(Path(name).suffix, "application/octet-stream")
        # To be saved, never shown: a page of ours among the app's would share its rights.
        return Response(found, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def static(name: str) -> Response:
    """A script or a style of the app."""
    if name == "vega.js":
        return Response(bundle(), media_type="text/javascript")
    if name not in ("app.css", "app.js"):
        return PlainTextResponse("There is no such file.", status_code=404)
    return Response((STATIC / name).read_text("utf-8"), media_type=KINDS[Path(name).suffix])


def download(desk: Desk, name: str) -> bytes | None:
    """A file to take away; None: there is none of that name."""
    if name == "project.toml":
        return project_text(desk.draft).encode()
    if name == "script.py":
        return script(desk.draft).encode()
    folder = desk.view.get("folder")
    if folder is None:
        return None
    public = Path(folder) / PUBLIC
    public = public if public.is_dir() else Path(folder) / "not_for_publication"
    internal = Path(folder) / "internal"
    if name in ("public.zip", "internal.zip"):
        return zipped(public if name == "public.zip" else internal)
    path = internal / "report.html" if name == "internal.html" else public / name
    return path.read_bytes() if path.parent in (public, internal) and path.is_file() else None


def zipped(folder: Path) -> bytes:
    """A folder as one file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder.parent))
    return made.getvalue()
