"""Authenticates requests by key, and checks what the key may do."""

from typing import Any

from django.db import InterfaceError, OperationalError
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from memoryproject.edge.callers import client_address, neighbourhood
from memoryproject.edge.errors import TooFast
from memoryproject.edge.web_pool import TENANT
from memoryproject.tenancy import guessing, services, walls
from memoryproject.tenancy.models import APIKey


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <key>`. Sets the key as `request.auth`; there is no user."""

    def authenticate(self, request: Request) -> tuple[None, APIKey]:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            raise NotAuthenticated("Send your key in the header Authorization: Bearer <key>.")
        if len(words) != 2:
            raise AuthenticationFailed("The Authorization header must be: Bearer <key>.")
        try:
            secret = words[1].decode("ascii")
        except UnicodeDecodeError as error:
            raise AuthenticationFailed("This key is not known.") from error
        key = self._find(request, secret)
        walls.act_for(key.tenant_id, users=key.user_ids)
        request.META[TENANT] = key.tenant_id
        return None, key

    def _find(self, request: Request, secret: str) -> APIKey:
        """Return the key behind a secret.

        Raises:
            AuthenticationFailed: there is no valid key.
            TooFast: too many wrong keys came from this address, and this one is not known to be
                from this server.
        """
        now, place = timezone.now(), neighbourhood(client_address(request))
        wait_s = guessing.is_slowed(place)
        if wait_s and not services.is_worth_a_look(secret, now=now):
            raise TooFast("Too many wrong keys came from this address.", retry_after_s=wait_s)
        try:
            key = services.find_key(secret=secret, now=now)
            if key is not None:
                walls.act_for(key.tenant_id)
                services.record_use(key=key, now=now)
        except (OperationalError, InterfaceError):
            key = self._vouch(request, secret)
            if key is None:
                raise
        if key is None:
            guessing.note_wrong_key(place)
            raise AuthenticationFailed("This key is not known, was revoked or has expired.")
        return key

    def _vouch(self, request: Request, secret: str) -> APIKey | None:
        """Return a recently found key, for a call that needs no database; None: look it up."""
        view = request.parser_context.get("view") if request.parser_context else None
        if view is None or not view.answers_without_database():
            return None
        return services.find_key_seen_lately(secret=secret, now=timezone.now())

    def authenticate_header(self, request: Request) -> str:
        """Make DRF answer 401 rather than 403."""
        return 'Bearer realm="memory"'


class HasScope(BasePermission):
    """The key must have the scope that the view requires for the method.

    A key bound to users may only make calls that declare support for it.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        needed = view.needs(request.method)
        self.message = f"The call needs a key with the scope {needed}."
        key = request.auth
        if isinstance(key, APIKey) and key.user_ids and not view.for_users:
            self.message = "The call needs a key that is not bound to users."
            return False
        return isinstance(key, APIKey) and needed in key.scopes
