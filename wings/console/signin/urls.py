"""Addresses of signing in, below `admin/`, under the names that the library asks for.

Those of signing up, of changing addresses and of connecting accounts are left out.
"""

from allauth.account.views import reauthenticate
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from django.urls import path

from wings.console.pages import Page, page_for
from wings.console.signin import adapters, pages
from wings.console.signin.pages import in_frame

CONFIRM = "Confirm that it is you"
OURS: list[tuple[str, Page, str]] = [
    ("login/", pages.SignInView.as_view(), "account_login"),
    ("sign-in/", pages.show_sign_in, "mfa_index"),
    ("sign-in/provider/", adapters.go_to_provider, "oidc_login"),
    ("sign-in/provider/callback/", adapters.come_back, "oidc_callback"),
    ("sign-in/refused/", pages.show_refusal, "account_inactive"),
    ("sign-in/code/", in_frame(factors.authenticate, "Second factor"), "mfa_authenticate"),
]
IN_FRAME = [
    ("confirm/", reauthenticate, "account_reauthenticate", CONFIRM),
    ("confirm/code/", factors.reauthenticate, "mfa_reauthenticate", CONFIRM),
    ("totp/", totp.activate_totp, "mfa_activate_totp", "Set up a second factor"),
    ("totp/remove/", totp.deactivate_totp, "mfa_deactivate_totp", "Remove the second factor"),
    ("codes/", recovery_codes.view_recovery_codes, "mfa_view_recovery_codes", "Recovery codes"),
    (
        "codes/new/", recovery_codes.generate_recovery_codes, "mfa_generate_recovery_codes",
        "New recovery codes",
    ),
]  # fmt: skip
urlpatterns = [path(address, view, name=name) for address, view, name in OURS] + [
    path(f"sign-in/{address}", page_for()(in_frame(view, title)), name=name)
    for address, view, name, title in IN_FRAME
]
