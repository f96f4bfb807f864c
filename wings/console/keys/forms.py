"""Forms for an API key (new, new secret, new rate) and for a tenant's budget."""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from jobs import spending
from memoryproject.edge.errors import Problem
from memoryproject.tenancy import limits, quotas, services
from memoryproject.tenancy.models import DEFAULT_SCOPES, Scope, Tenant
from memoryproject.text.cleaning import DEFANGED, LINK_STYLES
from wings.console.forms import LinesField, TextForm

USERS_AT_MOST, ID_AT_MOST = 100, 255
CALLS_AT_MOST = limits.RATES_AT_MOST[limits.CALLS]
GRACE_HOURS_AT_MOST = services.GRACE_AT_MOST // timedelta(hours=1)


class RateForm(TextForm):
    rate = forms.IntegerField(required=False, min_value=0, max_value=CALLS_AT_MOST)


def make_limit(most: int) -> forms.IntegerField:
    return forms.IntegerField(required=False, min_value=0, max_value=most)


def make_budget() -> forms.DecimalField:
    return forms.DecimalField(
        required=False, min_value=0, max_value=spending.MOST, max_digits=15, decimal_places=8
    )


class LimitsForm(TextForm):
    """The limits of a tenant, by the names in its settings; empty: the server's."""

    rate = make_limit(limits.RATES_AT_MOST[limits.CALLS])
    byte_rate = make_limit(limits.RATES_AT_MOST[limits.BYTES])
    ask_rate = make_limit(limits.RATES_AT_MOST[limits.QUESTIONS])
    ask_budget = make_budget()
    quota_bytes = make_limit(quotas.QUOTA_AT_MOST)
    quota_rows = make_limit(quotas.QUOTA_AT_MOST)
    default_scope = forms.ChoiceField(choices=DEFAULT_SCOPES[1:])

    def clean_ask_budget(self) -> Decimal | None:
        amount: Decimal | None = self.cleaned_data["ask_budget"]
        if amount:
            try:
                spending.check_budget(amount)
            except Problem as problem:
                raise ValidationError(problem.message) from None
        return amount


class NewKeyForm(RateForm):
    key_id = forms.UUIDField(widget=forms.HiddenInput)
    tenant = forms.CharField(
        max_length=200, widget=forms.TextInput(attrs={"list": "key-tenants", "autocomplete": "off"})
    )
    name = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    scopes = forms.MultipleChoiceField(choices=Scope.choices, widget=forms.CheckboxSelectMultiple)
    user_ids = LinesField(USERS_AT_MOST, ID_AT_MOST)
    links = forms.ChoiceField(choices=[(style, style) for style in LINK_STYLES], initial=DEFANGED)
    expires_on = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}))
    default_scope = forms.ChoiceField(choices=DEFAULT_SCOPES, required=False)
    field_order = (
        "tenant", "name", "scopes", "user_ids", "links", "default_scope", "expires_on", "rate",
    )  # fmt: skip

    def clean_tenant(self) -> Tenant:
        tenant = Tenant.objects.filter(name=self.cleaned_data["tenant"]).first()
        if tenant is None:
            raise ValidationError("No tenant has this name.")
        return tenant

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if not name.isprintable():
            raise ValidationError("Use characters that can be printed.")
        return name

    def clean_expires_on(self) -> datetime | None:
        """Return the end of the day, which must be in the future."""
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
    """The time for which the old secret is still accepted."""

    replaced = forms.CharField(max_length=12)
    """Prefix of the secret to replace: a form sent twice has one effect."""
    grace_hours = forms.IntegerField(min_value=0, max_value=GRACE_HOURS_AT_MOST)


class BudgetForm(TextForm):
    DEFAULT, NONE, OWN = "default", "none", "own"
    kind = forms.ChoiceField(widget=forms.RadioSelect)
    amount = make_budget()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = settings.DAILY_BUDGET
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (self.DEFAULT, f"the server’s: {'no limit' if usual is None else f'{usual:f} a day'}"),
            (self.NONE, "no limit"),
            (self.OWN, "this amount:"),
        ]

    def clean(self) -> None:
        """Look at the amount, which goes with its own kind alone."""
        params = self.cleaned_data
        if params.get("kind") == self.OWN and "amount" in params:
            try:
                if params["amount"] is None:
                    raise Problem("Say how much.")
                spending.check_budget(params["amount"])
            except Problem as problem:
                self.add_error("amount", problem.message)
