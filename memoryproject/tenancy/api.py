"""Tells a caller the tenant of its key, and the key's permissions and limits."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.fields import Output
from memoryproject.edge.schema import describe
from memoryproject.tenancy import limits
from memoryproject.tenancy.models import APIKey, Scope, Tenant
from memoryproject.tenancy.views import KeyedView
from memoryproject.text.cleaning import LINK_STYLES


class TenantOutput(Output):
    """A tenant."""

    table, columns = Tenant, "id name"


class KeyOutput(Output):
    """A key, without its secret."""

    table, columns = APIKey, "id name prefix links expires_at user_ids"
    links = serializers.ChoiceField(choices=LINK_STYLES)


class LimitOutput(serializers.Serializer[Any]):
    """The rate at which a key, or all keys of its tenant together, may call or send."""

    of = serializers.ChoiceField(choices=["key", "tenant"])
    unit = serializers.ChoiceField(choices=[limits.CALLS, limits.BYTES])
    rate = serializers.IntegerField()
    burst = serializers.IntegerField()
    left = serializers.IntegerField()


class WhoAmIOutput(serializers.Serializer[Any]):
    """The tenant and permissions of a key."""

    tenant = TenantOutput()
    key = KeyOutput()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    limits = LimitOutput(many=True)


class WhoAmI(KeyedView):
    """Shows the key. Any valid key may ask, without a scope."""

    permission_classes = ()

    @describe("whoami", answers=WhoAmIOutput)
    def get(self, request: Request) -> Response:
        key = self.key()
        body = {
            "tenant": key.tenant,
            "key": key,
            "scopes": key.scopes,
            "limits": limits.list_remaining(key),
        }
        return Response(WhoAmIOutput(body).data)
