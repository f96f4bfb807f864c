"""Signing in by an OpenID Connect provider: to it and back, and what its token must prove."""

import hmac
import secrets
from typing import Any

import jwt
import requests
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from console.signin.adapters import PROVIDER, logger, refuse

NONCE = "oidc_nonce"
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "ES512", "EdDSA"]
LEEWAY_S = 60
UID_AT_MOST = 191
"""Characters of `sub` that the table holds."""


class TokenAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Believes what a token says whose signature, issuer, audience, time and nonce are right.

    The library leaves the signature of a token unchecked that came straight from the provider,
    and asks for no nonce.
    """

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's description of itself; it must be that of the issuer in the settings."""
        config: dict[str, Any] = super().openid_config
        needed = {"token_endpoint", "authorization_endpoint", "jwks_uri"}
        if str(config.get("issuer")).rstrip("/") != settings.OIDC_ISSUER.rstrip("/"):
            raise OAuth2Error("another issuer")
        if not needed <= config.keys():
            raise OAuth2Error("an endpoint is missing")
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """Return where the provider sends people back to."""
        return request.build_absolute_uri(reverse("oidc_callback"))

    def complete_login(
        self, request: HttpRequest, app: Any, token: Any, **kwargs: Any
    ) -> SocialLogin:
        """Return who came; the claims are its `claims`, and no table holds them."""
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
        """Return the claims of a token.

        Raises:
            OAuth2Error: it is not signed by the provider for us, or its time is over.
        """
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
    """Send somebody to the provider."""
    return _ask_provider(request, _leave)


def come_back(request: HttpRequest) -> HttpResponse:
    """Sign in who comes back from the provider."""
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
