"""What django-allauth asks of us: who may come in, with which roles, and how secrets are kept."""

import base64
import hmac
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from console.action_log import record
from console.pages import show_page
from memoryproject.edge.callers import client_address
from memoryproject.process.env import Grant
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import Membership, Tenant

logger = logging.getLogger("memory.signin")
PROVIDER = "oidc"
BACKEND = "memoryproject.tenancy.membership.RoleBackend"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Lets nobody sign up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: people are made by administrators, or come from the provider."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that a caller comes from; `::` behind a local socket."""
        return client_address(request) or "::"

    def login(self, request: HttpRequest, user: Any) -> None:
        """Sign somebody in, whose rights our backend knows."""
        user.backend = BACKEND
        super().login(request, user)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Knows the one provider that the settings name, and lets in whom its claim gives a role."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the provider that is configured, and none that a table holds."""
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
        """Return True: who has no role was refused by `pre_social_login`."""
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Take over roles and address of somebody known; refuse whom the claim gives none."""
        grants = find_grants(sociallogin.claims)
        if sociallogin.is_existing:
            person = sociallogin.user
            set_roles(person, grants)
            User.objects.filter(pk=person.pk).update(email=sociallogin.email)
        if not grants:
            raise ImmediateHttpResponse(refuse(request, "Your account there gives no role here."))

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Keep somebody new, without a password."""
        person: User = super().save_user(request, sociallogin, form)
        set_roles(person, find_grants(sociallogin.claims))
        return person

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None,
        extra_context: Any = None,
    ) -> None:  # fmt: skip
        """Say that it did not work, and no more; the log has the kind of the failure."""
        logger.warning("sign-in refused", extra={"error": type(exception).__name__})
        raise ImmediateHttpResponse(refuse(request, "The provider did not confirm who you are."))


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keeps secrets of second factors encrypted by the server's pepper."""

    def get_totp_issuer(self) -> str:
        """Return what an authenticator app calls this server."""
        return "Memory server"

    def encrypt(self, text: str) -> str:
        """Return the text as the table holds it."""
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return what `encrypt` was given."""
        return _cipher().decrypt(encrypted_text.encode()).decode()

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Return whether people may do without a second factor."""
        return not settings.REQUIRE_TOTP


def _cipher() -> Fernet:
    key = hmac.digest(settings.KEY_PEPPER.encode(), b"second factors", "sha256")
    return Fernet(base64.urlsafe_b64encode(key))


def refuse(request: HttpRequest, reason: str, *, status: int = 403) -> HttpResponse:
    """Show the page for those who are not let in."""
    return show_page(
        request, "console/signin/refused.html", title="Not signed in", status=status, reason=reason
    )


def find_grants(claims: Mapping[str, Any]) -> set[Grant]:
    """Return the roles that the values of the claim stand for, by the operator's mapping."""
    values = claims.get(settings.OIDC_CLAIM)
    named = values if isinstance(values, list) else [values]
    return {grant for value, grant in settings.OIDC_ROLES if value in named}


@transaction.atomic
def set_roles(person: User, grants: set[Grant]) -> None:
    """Give a person exactly these roles, in all tenants or in single ones; none: no access.

    A tenant that does not exist is passed over.
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
    """Let the marked people sign in by their passwords alone."""
    with transaction.atomic():
        for person in queryset:
            Authenticator.objects.filter(user=person).delete()
            record(request, person, "removed the second factor")
    messages.success(request, "They sign in by their passwords alone now.")
