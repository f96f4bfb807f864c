"""What django-allauth asks of us: who may come in, with which roles, how secrets are kept, and
what the token of an OpenID Connect provider must prove.
"""

import base64
import hmac
import logging
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import jwt
import requests
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from memoryproject.edge.callers import client_address
from memoryproject.process.env import Grant
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Membership, Tenant
from wings.console.pages import record, show_page

logger = logging.getLogger("memory.signin")
PROVIDER = "oidc"
BACKEND = "memoryproject.tenancy.membership.RoleBackend"
NONCE = "oidc_nonce"
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "ES512", "EdDSA"]
LEEWAY_S = 60
UID_AT_MOST = 191
"""Characters of `sub` that the table holds."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Does not allow sign-up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: people are created by administrators, or come from the provider."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's address; `::` behind a local socket."""
        return client_address(request) or "::"

    def login(self, request: HttpRequest, user: Any) -> None:
        """Log a person in whose rights come from our backend."""
        user.backend = BACKEND
        super().login(request, user)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Uses the provider in the settings, and admits people to whom a claim gives a role."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the configured provider; providers in tables are ignored."""
        if not settings.OIDC_ISSUER:
            return []
        options = {"server_url": settings.OIDC_ISSUER, "oauth_pkce_enabled": True}
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=PROVIDER,
                name=urlsplit(settings.OIDC_ISSUER).hostname,
                client_id=settings.OIDC_CLIENT_ID,
                secret=settings.OIDC_CLIENT_SECRET,
                settings={**options, "scope": settings.OIDC_SCOPES},
            )
        ]

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return True: people without a role were refused by `pre_social_login`."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Update roles and email of a known person; refuse people without a role."""
        grants = find_grants(sociallogin.claims)
        if sociallogin.is_existing:
            person = sociallogin.user
            set_roles(person, grants)
            User.objects.filter(pk=person.pk).update(email=sociallogin.email)
        if not grants:
            raise ImmediateHttpResponse(refuse(request, "Your account there gives no role here."))

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        person: User = super().save_user(request, sociallogin, form)
        set_roles(person, find_grants(sociallogin.claims))
        return person

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None,
        extra_context: Any = None,
    ) -> None:  # fmt: skip
        """Show only that it failed; the log has the kind of error."""
        logger.warning("sign-in refused", extra={"error": type(exception).__name__})
        raise ImmediateHttpResponse(refuse(request, "The provider did not confirm who you are."))


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts the secrets of second factors with the server's pepper."""

    def get_totp_issuer(self) -> str:
        return "Memory server"

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not settings.REQUIRE_TOTP


def _cipher() -> Fernet:
    key = hmac.digest(settings.KEY_PEPPER.encode(), b"second factors", "sha256")
    return Fernet(base64.urlsafe_b64encode(key))


def refuse(request: HttpRequest, reason: str, *, status: int = 403) -> HttpResponse:
    return show_page(
        request, "console/signin/refused.html", title="Not signed in", status=status, reason=reason
    )


def find_grants(claims: Mapping[str, Any]) -> set[Grant]:
    """Return the roles for the values of the claim, by the operator's mapping."""
    values = claims.get(settings.OIDC_CLAIM)
    named = values if isinstance(values, list) else [values]
    return {grant for value, grant in settings.OIDC_ROLES if value in named}


@transaction.atomic
def set_roles(person: User, grants: set[Grant]) -> None:
    """Give a person exactly these roles, in all tenants or in single ones; none: no access.

    Unknown tenants are ignored.
    """
    person.is_staff = bool(grants)
    person.save(update_fields=["is_staff"])
    person.groups.set(Group.objects.filter(name__in=[g.role for g in grants if not g.tenant]))
    groups = {group.name: group.pk for group in Group.objects.all()}
    with walls.across_tenants():
        named = Tenant.objects.filter(name__in=[grant.tenant for grant in grants])
        tenants = dict(named.values_list("name", "id"))
        wanted = {(tenants[g.tenant], groups[g.role]) for g in grants if g.tenant in tenants}
        rows = Membership.across_tenants.filter(person=person)
        held = {(row.tenant_id, row.role_id): row.pk for row in rows}
        rows.filter(id__in=[held[pair] for pair in held.keys() - wanted]).delete()
        for tenant_id, role_id in wanted - held.keys():
            Membership.objects.create(tenant_id=tenant_id, person=person, role_id=role_id)


@admin.action(description="Remove second factors", permissions=["change"])
def remove_second_factors(_: Any, request: HttpRequest, queryset: QuerySet[User]) -> None:
    """Let the selected people log in with only their passwords."""
    with transaction.atomic():
        for person in queryset:
            Authenticator.objects.filter(user=person).delete()
            record(request, person, "removed the second factor")
    messages.success(request, "They sign in by their passwords alone now.")


class TokenAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Accepts a token only with valid signature, issuer, audience, time and nonce.

    The library does not check the signature of a token that came directly from the provider, nor a
    nonce.
    """

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's metadata; its issuer must be the one in the settings."""
        config: dict[str, Any] = super().openid_config
        needed = {"token_endpoint", "authorization_endpoint", "jwks_uri"}
        if str(config.get("issuer")).rstrip("/") != settings.OIDC_ISSUER.rstrip("/"):
            raise OAuth2Error("another issuer")
        if not needed <= config.keys():
            raise OAuth2Error("an endpoint is missing")
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return request.build_absolute_uri(reverse("oidc_callback"))

    def complete_login(
        self, request: HttpRequest, app: Any, token: Any, **kwargs: Any
    ) -> SocialLogin:
        """Return the person; the claims are in `claims`, and in no table."""
        claims = self._decode_id_token(app, kwargs["response"].get("id_token") or "")
        nonce = request.session.get(NONCE, "")
        if not nonce or not hmac.compare_digest(str(claims.get("nonce")), nonce):
            raise OAuth2Error("another nonce")
        if "userinfo_endpoint" in self.openid_config:
            info = self._fetch_user_info(token.token)
            if info.get("sub") != claims["sub"]:
                raise OAuth2Error("user info of somebody else")
            claims = {**info, **claims}
        login: SocialLogin = self.get_provider().sociallogin_from_response(
            request, {"id_token": claims}
        )
        email = claims.get("email")
        login.claims, login.email = claims, email if isinstance(email, str) else ""
        login.account.extra_data, login.email_addresses = {}, []
        return login

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        """Return the claims of a token; raise OAuth2Error if it is not for us, or expired."""
        answer = requests.get(self.openid_config["jwks_uri"], timeout=settings.OIDC_TIMEOUT_S)
        answer.raise_for_status()
        try:
            key_id = jwt.get_unverified_header(id_token).get("kid")
            keys = [key for key in jwt.PyJWKSet.from_dict(answer.json()).keys if key.Algorithm]
            key = next(key for key in keys if key_id in (None, key.key_id))
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key.key,
                algorithms=ALGORITHMS,
                audience=app.client_id,
                issuer=self.openid_config["issuer"],
                leeway=LEEWAY_S,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, StopIteration, TypeError, AttributeError) as error:
            raise OAuth2Error(type(error).__name__) from None
        if claims.get("azp", app.client_id) != app.client_id or not claims["sub"]:
            raise OAuth2Error("a token for somebody else")
        if len(claims["sub"]) > UID_AT_MOST:
            raise OAuth2Error("a subject that is too long")
        return claims


def go_to_provider(request: HttpRequest) -> HttpResponse:
    return _ask_provider(request, _leave)


def come_back(request: HttpRequest) -> HttpResponse:
    return _ask_provider(request, OAuth2CallbackView.adapter_view(TokenAdapter(request, PROVIDER)))


def _leave(request: HttpRequest) -> HttpResponse:
    nonce = request.session.setdefault(NONCE, secrets.token_urlsafe(24))
    provider = TokenAdapter(request, PROVIDER).get_provider()
    provider.oauth2_adapter_class = TokenAdapter
    answer: HttpResponse = provider.redirect(
        request,
        AuthProcess.LOGIN,
        next_url=get_next_redirect_url(request),
        auth_params={"nonce": nonce},
    )
    return answer


def _ask_provider(request: HttpRequest, ask: Any) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    try:
        answer: HttpResponse = ask(request)
        return answer
    except (OAuth2Error, requests.RequestException) as error:
        logger.warning("provider away", extra={"error": type(error).__name__})
        return refuse(request, "The provider does not answer as it should.", status=503)
