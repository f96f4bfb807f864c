"""The forms of an API key (a new one, a new secret, another rate) and of a tenant's budget."""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from console.forms import LinesField
from jobs import spending
from memoryproject.edge.errors import Problem
from memoryproject.tenancy import limits, quotas, services
from memoryproject.tenancy.models import Scope, Tenant
from memoryproject.text.cleaning import DEFANGED, LINK_STYLES

USERS_AT_MOST, ID_AT_MOST = 100, 255
GRACE_HOURS_AT_MOST = services.GRACE_AT_MOST // timedelta(hours=1)


class RateForm(forms.Form):
    """How often a key may call."""

    rate = forms.IntegerField(
        required=False,
        label="Calls a minute",
        min_value=0,
        max_value=limits.RATES_AT_MOST[limits.CALLS],
        help_text="0: no limit. Empty: as the server’s settings say.",
    )


class QuotaForm(forms.Form):
    """How much a tenant may store."""

    quota_bytes = forms.IntegerField(required=False, min_value=0, max_value=quotas.QUOTA_AT_MOST)
    quota_rows = forms.IntegerField(required=False, min_value=0, max_value=quotas.QUOTA_AT_MOST)


class NewKeyForm(RateForm):
    """What a key is for."""

    key_id = forms.UUIDField(widget=forms.HiddenInput)
    tenant = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"list": "key-tenants", "autocomplete": "off"}),
        help_text="The name of a tenant that there is.",
    )
    name = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Who or what will use the key.",
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text="Give no more than is needed.",
        error_messages={"required": "Choose at least one."},
    )
    user_ids = LinesField(
        USERS_AT_MOST,
        ID_AT_MOST,
        label="Users",
        help_text="User ids, one a line: it sees and writes only what is theirs. Empty: all.",
    )
    links = forms.ChoiceField(
        choices=[(style, style) for style in LINK_STYLES],
        initial=DEFANGED,
        help_text="How answers print links: defanged, so that nothing follows them, or as said.",
    )
    expires_on = forms.DateField(
        required=False,
        label="Last day",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="It ends with this day (UTC). Empty: it does not end by itself.",
    )
    field_order = ("tenant", "name", "scopes", "user_ids", "links", "expires_on", "rate")

    def clean_tenant(self) -> Tenant:
        """Return the tenant of that name."""
        tenant = Tenant.objects.filter(name=self.cleaned_data["tenant"]).first()
        if tenant is None:
            raise ValidationError("No tenant has this name.")
        return tenant

    def clean_name(self) -> str:
        """Return the name; it can be printed."""
        name = str(self.cleaned_data["name"])
        if not name.isprintable():
            raise ValidationError("Use characters that can be printed.")
        return name

    def clean_expires_on(self) -> datetime | None:
        """Return the end of the day, which lies ahead."""
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        if day.year > 9000:
            raise ValidationError("This is too far away.")
        end = datetime.combine(day, time(), UTC) + timedelta(days=1)
        if end <= timezone.now():
            raise ValidationError("This day is over.")
        return end


class RotationForm(forms.Form):
    """How long the secret so far goes on being accepted."""

    replaced = forms.CharField(max_length=12)
    """How the secret begins that is to be replaced: sent twice, the form does it once."""
    grace_hours = forms.IntegerField(min_value=0, max_value=GRACE_HOURS_AT_MOST)


class BudgetForm(forms.Form):
    """What the language model may cost a tenant in a day."""

    DEFAULT, NONE, OWN = "default", "none", "own"
    kind = forms.ChoiceField(label="Limit", widget=forms.RadioSelect)
    amount = forms.DecimalField(
        required=False,
        min_value=Decimal(0),
        max_value=spending.MOST,
        max_digits=15,
        decimal_places=8,
        help_text="A day, in the currency of the prices.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = settings.DAILY_BUDGET
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (self.DEFAULT, f"the server’s: {'no limit' if usual is None else f'{usual:f} a day'}"),
            (self.NONE, "no limit"),
            (self.OWN, "this amount:"),
        ]

    def clean(self) -> dict[str, Any]:
        """Return the choice; an amount goes with its own kind alone."""
        params: dict[str, Any] = super().clean() or {}
        if params.get("kind") != self.OWN or "amount" not in params:
            return params
        if params["amount"] is None:
            self.add_error("amount", "Say how much.")
            return params
        try:
            spending.check_budget(params["amount"])
        except Problem as problem:
            self.add_error("amount", problem.message)
        return params
