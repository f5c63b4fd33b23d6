"""Who may talk to the app: this computer, with the token that was drawn when it started, over HTTP and websocket.

The token stands in the first address; after it a cookie holds it. A page of another site that sends requests here has
neither, nor the right host (against names that are made to point here).
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

COOKIE = "tacita_token"
HOSTS = ("127.0.0.1", "localhost")
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; "
    "form-action 'self'; base-uri 'none'"
)
"""The browser itself refuses any other connection; Vega compiles its expressions, hence unsafe-eval."""
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """An ASGI application before another one: it lets through who has the token, and refuses everybody else."""

    def __init__(self, app: Any, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.port = port

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it: 403, or a websocket that is closed before it is open."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", [])}
        said = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        allowed = self._right(said) or self._right(_cookie(headers.get(b"cookie", "")))
        if not (allowed and self._from_here(headers)):
            await _refuse(scope, receive, send)
            return
        fresh = scope["type"] == "http" and self._right(said)

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                more = [*HEADERS]
                if fresh:
                    more.append((b"set-cookie", f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/".encode()))
                kept = [each for each in message.get("headers", []) if each[0].lower() != b"cache-control"]
                message = {**message, "headers": [*kept, *more]}
            await send(message)

        await self.app(scope, receive, sending)

    def _right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _from_here(self, headers: dict[bytes, str]) -> bool:
        """Whether a request is for this computer by name, and from a page of ours if from a page at all."""
        hosts = {f"{host}:{self.port}" for host in HOSTS}
        origin = headers.get(b"origin")
        return headers.get(b"host", "") in hosts and (origin is None or origin in {f"http://{host}" for host in hosts})


def _cookie(text: str) -> str:
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _refuse(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    text = b"Forbidden: open the address that tacita app has printed."
    start = {"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]}
    await send(start)
    await send({"type": "http.response.body", "body": text})
