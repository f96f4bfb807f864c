"""The job that mails notifications: one mail a person and tenant, at once or once a day.

A mail gets its id before it is sent: if it is sent again because the mail server's answer was lost,
it has the same Message-ID.
"""

import smtplib
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.urls import reverse

from jobs import claims
from jobs.claims import Claim, OutsideAway
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, State
from jobs.spending import start_of_day
from memoryproject.database.clock import read_database_clock
from memoryproject.database.ids import make_id
from memoryproject.tenancy.membership import looking_at
from memoryproject.tenancy.models import Tenant
from wings.events.models import MailChoice, Notification
from wings.events.notices import find_address, render_words
from wings.events.types import find_notices

DAILY_AT = timedelta(hours=6)
"""Time after midnight, UTC."""
MAILED_WITHIN = timedelta(days=7)
"""Age up to which notifications are mailed: mail may have been set up only today."""
LINKS_AT_MOST = 5
"""Number of links per kind, to the newest."""
PAGES = ("notifications", "notification_choice")


class MailServerAway(OutsideAway):
    """The mail server cannot be reached, or refuses all mail."""


def queue_mails(*, at_most: int) -> None:
    """Queue a job for each tenant with mail to send.

    Uses index: events_notification_unmailed.
    """
    if not settings.EMAIL_HOST:
        return
    known = [State.READY, State.RUNNING, State.DEAD]
    jobs = Job.across_tenants.filter(
        tenant=OuterRef("pk"), scope=OuterRef("pk"), kind=Kind.MAIL, state__in=known
    )
    due = due_at(read_database_clock(), Notification.across_tenants.filter(tenant=OuterRef("pk")))
    for tenant in Tenant.objects.filter(Exists(due), ~Exists(jobs)).order_by("id")[:at_most]:
        enqueue(tenant=tenant, kind=Kind.MAIL, scope=tenant.id)


def due_at(now: datetime, rows: QuerySet[Notification]) -> QuerySet[Notification]:
    last = start_of_day(now - DAILY_AT) + DAILY_AT
    at_once = Q(person__mail_choice__when=MailChoice.When.AT_ONCE)
    fresh = Q(read_at=None, created_at__gt=now - MAILED_WITHIN)
    started = Q(mail__isnull=False)
    return rows.filter(
        started | (fresh & (at_once | Q(created_at__lt=last))), mailed_at=None,
        person__is_active=True,
    ).exclude(Q(person__email="") | Q(person__mail_choice__when=MailChoice.When.NEVER))  # fmt: skip


def send_mails(claim: Claim) -> None:
    """Send a tenant's due mails one by one; after some seconds give the job back.

    Raises:
        MailServerAway: try again later.
    """
    sent, put_off = 0, set[UUID | None]()
    if settings.EMAIL_HOST:
        try:
            # The first mail opens the connection, within its ten seconds.
            with closing(get_connection()) as connection:
                while rows := _open_mail(claim.tenant, put_off):
                    try:
                        sent += _send(connection, claim.tenant, rows)
                    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError):
                        put_off.add(rows[0].mail)  # the others need not wait for it
                    if claims.hand_back_if_late(claim):
                        return
        except (OSError, smtplib.SMTPException) as error:
            raise MailServerAway(type(error).__name__) from None
    if put_off:
        raise MailServerAway("It takes some mails later.")
    with claims.commit(claim, result={"mails": sent}):
        pass


def _open_mail(tenant: Tenant, put_off: set[UUID | None]) -> list[Notification]:
    """Return the next mail's notifications, now reserved for it."""
    rows = Notification.objects.of(tenant)
    due = due_at(read_database_clock(), rows).exclude(mail__in=put_off)
    first = due.order_by(F("mail").asc(nulls_last=True), "id").first()
    if first is None:
        return []
    mail = first.mail
    if mail is None:
        mail = make_id()
        ids = due.filter(person=first.person_id, mail=None).values_list("id", flat=True)
        rows.filter(id__in=list(ids)).update(mail=mail)
    return list(rows.filter(mail=mail).select_related("person").order_by("type", "-id"))


def _send(connection: Any, tenant: Tenant, rows: list[Notification]) -> int:
    """Send one mail about what the person may still see; return how many were sent.

    If the address or the mail is permanently refused, record that instead.
    """
    person, mail, now = rows[0].person, rows[0].mail, read_database_clock()
    with looking_at(person, tenant):
        seen = {code for code, each in find_notices().items() if person.has_perm(each.permission)}
        shown = [row for row in rows if row.type in seen]
    if shown and person.is_staff:
        message = _write(shown, person, tenant)
        message.connection = connection
        try:
            message.send()
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError) as error:
            if _find_code(error) < 500:
                raise
            MailChoice.objects.update_or_create(person=person, defaults={"refused_at": now})
            shown = []
    Notification.objects.of(tenant).filter(mail=mail).update(mailed_at=now)
    return int(bool(shown))


def _find_code(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) -> int:
    if isinstance(error, smtplib.SMTPDataError):
        return error.smtp_code
    return min(code for code, _ in error.recipients.values())


def _write(rows: list[Notification], person: User, tenant: Tenant) -> EmailMessage:
    """Return the mail: counts, kinds and links to the newest of each kind."""
    lines: list[str] = []
    for type in dict.fromkeys(row.type for row in rows):
        same = [row for row in rows if row.type == type]
        lines.append(f"{render_words(type, sum(row.count for row in same))}:")
        for row in same[:LINKS_AT_MOST]:
            lines.append(f"  {settings.PUBLIC_URL}{find_address(type, row.subject, tenant)}")
    links = [f"{settings.PUBLIC_URL}{reverse('console:' + name)}" for name in PAGES]
    lines += ["", "All notifications: {}\nWhen to get such mails: {}".format(*links)]
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    subject = f"{tenant.name}: {render_words(rows[0].type, rows[0].count)}{more}"
    return EmailMessage(
        subject=" ".join(subject.split()),  # a header has one line
        body="\n".join(lines) + "\n",
        to=[person.email],
        headers={
            "Message-ID": f"<{rows[0].mail}@{urlsplit(settings.PUBLIC_URL).hostname}>",
            "Auto-Submitted": "auto-generated",
        },
    )
