"""Django's connection to a mail server, with a deadline by the clock and bounded answers."""

import smtplib
from collections.abc import Sequence
from typing import Any, BinaryIO

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from memoryproject.process.outward import Line

TIMEOUT_S = 10.0
"""Seconds for a whole mail, from the name lookup to the last answer."""
BYTES_AT_MOST = 256 * 1024
"""Largest size of all answers of a server over one connection."""


class Answers:
    """A mail server's answers, line by line, up to BYTES_AT_MOST."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = BYTES_AT_MOST

    def readline(self, at_most: int) -> bytes:
        line = self._file.readline(at_most)
        self._left -= len(line)
        if self._left < 0:
            raise smtplib.SMTPServerDisconnected("It answers without end.")
        return line

    def close(self) -> None:
        self._file.close()


class Backend(EmailBackend):
    """Sends a mail within ten seconds, including connecting, or raises TimeoutError."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        self._line = Line()

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """Return smtplib's class, with connections registered as soon as they are read."""
        line, base = self._line, super().connection_class

        class Connection(base):  # type: ignore[misc, valid-type]
            _answers: Answers | None = None

            @property
            def file(self) -> Answers | None:
                return self._answers

            @file.setter
            def file(self, opened: BinaryIO | None) -> None:
                # smtplib replaces it after STARTTLS: from then on this is another socket.
                if opened is not None:
                    line.add(self.sock)
                self._answers = Answers(opened) if opened is not None else None

        return Connection

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send mails over a connection that stays open; return how many."""
        send = super().send_messages

        def work() -> int:
            self.open()  # first: it would be closed with the mail otherwise
            return send(email_messages)

        return self._line.run(work, within_s=TIMEOUT_S) or 0

    def close(self) -> None:
        """Say goodbye to the server."""
        self._line.run(super().close, within_s=TIMEOUT_S)
