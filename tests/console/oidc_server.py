"""An OpenID Connect provider on loopback: everybody who asks is signed in, with real tokens.

A `flaw` makes it answer wrongly in one way.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT = "memory-server"
SECRET = "a secret between both"
KEY_ID = "a key"


def make_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Provider:
    """Who signs in, what the provider says of them, and what it was asked."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "ana-1"})
    flaw: str = ""
    key: rsa.RSAPrivateKey = field(default_factory=make_key)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def authorize(self, given: dict[str, str]) -> str:
        """Return where the browser is sent back to."""
        assert (given["client_id"], given["response_type"]) == (CLIENT, "code")
        assert "openid" in given["scope"].split() and given["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = given
        back = {"code": code, "state": given["state"]}
        if self.flaw == "denied":
            back = {"error": "access_denied", "state": given["state"]}
        return f"{given['redirect_uri']}?{urlencode(back)}"

    def give_token(self, given: dict[str, str]) -> dict[str, Any]:
        """Return the answer to a code, which holds once, and for who can prove to be the client."""
        asked = self.codes.pop(given["code"])
        digest = hashlib.sha256(given["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        assert challenge == asked["code_challenge"] and given["client_secret"] == SECRET
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": asked["nonce"],
            **self.claims,
        }  # fmt: skip
        wrong = {
            "audience": {"aud": "another"},
            "several audiences": {"aud": [CLIENT, "another"], "azp": "another"},
            "nonce": {"nonce": "another"},
            "issuer": {"iss": "https://another.example"},
            "expired": {"exp": now - 3600},
        }
        claims |= wrong.get(self.flaw, {})
        key: Any = make_key() if self.flaw == "signature" else self.key
        token = jwt.encode(claims, key, algorithm="RS256", headers={"kid": KEY_ID})
        if self.flaw == "no signature":
            token = jwt.encode(claims, None, algorithm="none", headers={"kid": KEY_ID})
        if self.flaw == "key taken for a password":
            token = jwt.encode(claims, "x" * 32, algorithm="HS256", headers={"kid": KEY_ID})
        return {"access_token": "for userinfo", "token_type": "Bearer", "id_token": token}

    def answer(self, path: str, given: dict[str, str]) -> Any:
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": "https://another.example" if self.flaw == "discovery" else self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/keys":
            shown = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**shown, "kid": KEY_ID, "use": "sig", "alg": "RS256"}]}
        if path == "/token":
            return self.give_token(given)
        assert path == "/userinfo"
        return {"sub": "somebody else"} if self.flaw == "userinfo" else self.claims


@contextmanager
def providing() -> Iterator[Provider]:
    """Run a provider until the block ends."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(dict(parse_qsl(parts.query))))
                self.end_headers()
                return
            self._reply(provider.answer(parts.path, {}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._reply(provider.answer(self.path, dict(parse_qsl(body))))

        def _reply(self, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
