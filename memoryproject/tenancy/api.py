"""Tells a caller the tenant of its key, and the key's permissions and limits."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import Column, Output
from memoryproject.edge.schema import describe
from memoryproject.tenancy import limits
from memoryproject.tenancy.models import APIKey, Scope, Tenant
from memoryproject.tenancy.views import KeyedView
from memoryproject.text.cleaning import LINK_STYLES


class TenantOutput(Output):
    """A tenant."""

    table = Tenant
    id = Column("The id by which the server knows it.")
    name = Column("The name that it was given.")


class KeyOutput(Output):
    """A key, without its secret."""

    table = APIKey
    id = Column("The id by which the server knows it.")
    name = Column("The name that it was given.")
    prefix = Column("The first characters of the secret.")
    links = serializers.ChoiceField(
        choices=LINK_STYLES, help_text="How its answers print links, where a call does not say."
    )
    expires_at = Column("null: never.")
    user_ids = Column("Whose conversations and notes alone it may touch; empty: all of the tenant.")


class LimitOutput(serializers.Serializer[Any]):
    """The rate at which a key, or all keys of its tenant together, may call or send."""

    of = serializers.ChoiceField(
        choices=["key", "tenant"],
        help_text="Whose limit: that of the key, or of all keys of the tenant together.",
    )
    unit = serializers.ChoiceField(
        choices=[limits.CALLS, limits.BYTES],
        help_text="What is counted: calls, or bytes of their bodies.",
    )
    rate = serializers.IntegerField(help_text="So many a minute.")
    burst = serializers.IntegerField(help_text="So many may come at once.")
    left = serializers.IntegerField(help_text="So many may come now.")


class WhoAmIOutput(serializers.Serializer[Any]):
    """The tenant and permissions of a key."""

    tenant = TenantOutput(help_text="The tenant that the key belongs to.")
    key = KeyOutput(help_text="The key, without its secret.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=Scope.choices), help_text="What the key may do."
    )
    limits = LimitOutput(many=True, help_text="Empty: no limit.")


class WhoAmI(KeyedView):
    permission_classes = ()

    @describe("whoami", answers=WhoAmIOutput)
    def get(self, request: Request) -> Response:
        """See what your key is and may do.

        The tenant and the key behind the caller's secret, the key's scopes, and how fast it may
        call. The call itself is taken from what is left.
        200: The tenant, the key, its scopes and its limits.
        """
        key = self.key()
        body = {
            "tenant": key.tenant,
            "key": key,
            "scopes": key.scopes,
            "limits": limits.list_remaining(key),
        }
        return Response(WhoAmIOutput(body).data)
