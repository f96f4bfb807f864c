"""Addresses of signing in, below `admin/`, under the names that the library asks for.

Those of signing up, of changing addresses and of connecting accounts are left out.
"""

from allauth.account import views as account
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from django.urls import path

from console.signin import oidc, pages
from console.signin.pages import in_frame

urlpatterns = [
    path("login/", pages.SignInView.as_view(), name="account_login"),
    path("sign-in/", pages.show_sign_in, name="mfa_index"),
    path("sign-in/provider/", oidc.go_to_provider, name="oidc_login"),
    path("sign-in/provider/callback/", oidc.come_back, name="oidc_callback"),
    path("sign-in/refused/", pages.show_refusal, name="account_inactive"),
    path(
        "sign-in/code/",
        in_frame(factors.authenticate, "Second factor", is_open=True),
        name="mfa_authenticate",
    ),
    path(
        "sign-in/confirm/",
        in_frame(account.reauthenticate, "Confirm that it is you"),
        name="account_reauthenticate",
    ),
    path(
        "sign-in/confirm/code/",
        in_frame(factors.reauthenticate, "Confirm that it is you"),
        name="mfa_reauthenticate",
    ),
    path(
        "sign-in/totp/",
        in_frame(totp.activate_totp, "Set up a second factor"),
        name="mfa_activate_totp",
    ),
    path(
        "sign-in/totp/remove/",
        in_frame(totp.deactivate_totp, "Remove the second factor"),
        name="mfa_deactivate_totp",
    ),
    path(
        "sign-in/recovery-codes/",
        in_frame(recovery_codes.view_recovery_codes, "Recovery codes"),
        name="mfa_view_recovery_codes",
    ),
    path(
        "sign-in/recovery-codes/new/",
        in_frame(recovery_codes.generate_recovery_codes, "New recovery codes"),
        name="mfa_generate_recovery_codes",
    ),
]
