"""Pages of the login, second factors, and open sessions."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from allauth.usersessions.models import UserSession
from axes.handlers.proxy import AxesProxyHandler
from cryptography.fernet import InvalidToken
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.signals import user_login_failed
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from unfold.forms import AuthenticationForm  # type: ignore[import-untyped]

from wings.console.pages import Answer, admin_page, show_page
from wings.console.signin.adapters import refuse

TOTP = [Authenticator.Type.TOTP]


class SignInView(LoginView):
    """The admin's login; asks for a second factor, if there is one, before anything is shown."""

    template_name = "console/signin/login.html"
    authentication_form = AuthenticationForm

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if admin.site.has_permission(request):
            return redirect("admin:index")
        return super().get(request, *args, **kwargs)

    def form_valid(self, form: Any) -> Any:
        login = Login(user=form.get_user(), redirect_url=self.get_success_url())
        given = {"username": form.get_user().get_username()}
        return perform_password_login(self.request, given, login)

    def get_context_data(self, **shown: Any) -> dict[str, Any]:
        frame = {**admin.site.each_context(self.request), "title": "Log in"}
        path, provider = self.request.get_full_path(), urlsplit(settings.OIDC_ISSUER).hostname
        username = self.request.user.get_username()
        own = {"app_path": path, "provider": provider, "username": username}
        return {**super().get_context_data(**shown), **frame, **own}


class CountedCode(forms.Form):
    """A code of a second factor: wrong ones count like wrong passwords, and lock too."""

    user: Any

    def clean_code(self) -> str:
        """Return the code; refuse a wrong one, and any after too many wrong ones."""
        request, credentials = context.request, {"username": self.user.get_username()}
        if not AxesProxyHandler.is_allowed(request, credentials):
            request.axes_locked_out = True
            raise forms.ValidationError("Too many attempts.")
        try:
            code: str = super().clean_code()  # type: ignore[misc]
        except InvalidToken:
            raise forms.ValidationError("The server's pepper was changed: ask for help.") from None
        except forms.ValidationError:
            user_login_failed.send(sender=__name__, credentials=credentials, request=request)
            raise
        return code


class SecondFactorForm(CountedCode, AuthenticateForm):  # type: ignore[misc]
    pass


class ConfirmForm(CountedCode, ReauthenticateForm):  # type: ignore[misc]
    pass


def in_frame(view: Callable[..., Any], title: str) -> Callable[..., Any]:
    """Make a view of the library look like a page of the admin."""

    def page(request: HttpRequest, **slots: Any) -> Any:
        response = view(request, **slots)
        if isinstance(response, TemplateResponse):
            frame = {**admin.site.each_context(request), "title": title}
            response.context_data = {**frame, **(response.context_data or {})}
        return response

    return page


@admin_page("console/signin/overview.html", "Signing in")
def show_sign_in(request: HttpRequest) -> Answer:
    """Show a person's second factor and open sessions; a submitted form ends sessions.

    Either a named one, or all but this one.
    """
    user: Any = request.user
    UserSession.objects.create_from_request(request)  # as after a change of the password
    sessions = UserSession.objects.purge_and_list(user)
    if request.method == "POST":
        named = request.POST.get("session")
        for session in sessions:
            if str(session.pk) == named or (named is None and not session.is_current()):
                session.end()
        messages.success(request, "What was signed in there is signed out.")
        return redirect("mfa_index")
    newest = sorted(sessions, key=lambda session: session.created_at, reverse=True)
    return {"has_totp": is_mfa_enabled(user, TOTP), "sessions": newest}


def answer_locked_out(
    request: HttpRequest, response: HttpResponse, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Return the page that tells how long to wait; 429, with Retry-After.

    It is the same whether or not the name exists.
    """
    wait = settings.AXES_COOLOFF_TIME
    page = show_page(
        request,
        "console/locked_out.html",
        title="Too many attempts",
        status=429,
        minutes=int(wait.total_seconds() // 60),
        attempts=settings.AXES_FAILURE_LIMIT,
    )
    page["Retry-After"] = str(int(wait.total_seconds()))
    return page


def show_refusal(request: HttpRequest) -> HttpResponse:
    return refuse(request, "This account is not active.")


class RequireFactorMiddleware(MiddlewareMixin):
    """Sends people who logged in with only a password to set up a second factor.

    Only with MEMORY_REQUIRE_TOTP; people from the provider are not affected.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        is_asked = settings.REQUIRE_TOTP and hasattr(request, "tenants")
        return redirect("mfa_activate_totp") if is_asked and _lacks_factor(request) else None


def _lacks_factor(request: HttpRequest) -> bool:
    if request.path in map(reverse, ALLOWED):
        return False
    methods = request.session.get("account_authentication_methods", [])
    by_provider = any(each["method"] == "socialaccount" for each in methods)
    return not by_provider and not is_mfa_enabled(request.user, TOTP)


ALLOWED = ("mfa_activate_totp", "account_reauthenticate", "admin:logout", "admin:jsi18n")
"""Pages that are open without a required second factor."""
