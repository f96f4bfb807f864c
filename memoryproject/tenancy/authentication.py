"""How a request proves whose it is, and what it may do."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from memoryproject.tenancy import services
from memoryproject.tenancy.models import APIKey


class KeyUser:
    """What DRF calls the user: the key that a request came with."""

    is_authenticated = True

    def __init__(self, key: APIKey) -> None:
        self.key = key

    def __str__(self) -> str:
        return str(self.key)


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`."""

    def authenticate(self, request: Request) -> tuple[KeyUser, APIKey]:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            raise NotAuthenticated("Send your key in the header Authorization: Bearer <key>.")
        if len(words) != 2:
            raise AuthenticationFailed("The Authorization header must be: Bearer <key>.")
        now = timezone.now()
        try:
            secret = words[1].decode("ascii")
        except UnicodeDecodeError as error:
            raise AuthenticationFailed("This key is not known.") from error
        key = services.find_key(secret=secret, now=now)
        if key is None:
            raise AuthenticationFailed("This key is not known, was revoked or has expired.")
        services.record_use(key=key, now=now)
        return KeyUser(key), key

    def authenticate_header(self, request: Request) -> str:
        """Make DRF answer 401 rather than 403."""
        return 'Bearer realm="memory"'


class HasScope(BasePermission):
    """The key must have the scope that the view names for the method."""

    def has_permission(self, request: Request, view: Any) -> bool:
        needed = view.needs(request.method)
        self.message = f"The call needs a key with the scope {needed}."
        key = request.auth
        return isinstance(key, APIKey) and needed in key.scopes
