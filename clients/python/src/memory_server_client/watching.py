"""Operations that watch over memory: memory tests, webhooks and their events."""

from __future__ import annotations

from collections.abc import Sequence

from memory_server_client import types
from memory_server_client.core import Call, Calls, Flow, Id, at, named
from memory_server_client.faces import Operation as operation
from memory_server_client.faces import listing


class Watching(Calls):
    """What tests answers, and what tells an address of yours what happens."""

    @listing(types.MemoryTestOutput)
    def list_memory_tests(
        self,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over memory tests with what came of their last run, newest first."""
        return self._list("memory_tests", named(locals()))

    @operation
    def add_memory_test(
        self,
        conversation_id: Id,
        query: str,
        *,
        must_say: Sequence[str] | None = None,
        must_not_say: Sequence[str] | None = None,
        max_tokens: int | None = None,
        at_most_tokens: int | None = None,
        case_id: Id | None = None,
    ) -> Flow[types.MemoryTestOutput]:
        """Add a memory test, and run it once.

        Args:
            query: what is asked, as `retrieve_memory` takes it.
            must_say: the answer holds all of these; case and spacing do not count.
            must_not_say: it holds none of these, but in lines with the mark of a correction.
            max_tokens: of the call; default: none.
            at_most_tokens: of the answer.
            case_id: the receipt that the test is made from.
        """
        return self._post("memory_tests", named(locals()))

    @operation
    def delete_memory_test(self, test_id: Id) -> Flow[None]:
        """Delete a memory test."""
        return self._change("DELETE", at("memory_tests/{}", test_id))

    @operation
    def run_memory_tests(self) -> Flow[types.VerdictsOutput]:
        """Run all memory tests of the tenant now, and return how many pass and fail."""
        return self._post("memory_tests/run")

    @listing(types.WebhookOutput)
    def list_webhooks(self, *, page_size: int | None = None) -> Call:
        """Iterate over webhooks, newest first."""
        return self._list("webhooks", named(locals()))

    @operation
    def add_webhook(
        self, url: str, *, types: Sequence[types.EventTypeEnum] | None = None
    ) -> Flow[types.WebhookWithSecret]:
        """Have an address told what happens; the secret that signs is shown only here.

        Args:
            url: a public http or https address.
            types: of events; default: all.
        """
        return self._post("webhooks", {"url": url, "types": types})

    @operation
    def get_webhook(self, webhook_id: Id) -> Flow[types.WebhookOutput]:
        """Return a webhook, without its secret."""
        return self._get(at("webhooks/{}", webhook_id))

    @operation
    def delete_webhook(self, webhook_id: Id) -> Flow[None]:
        """Delete a webhook with its events, those that wait included."""
        return self._change("DELETE", at("webhooks/{}", webhook_id))

    @operation
    def rotate_webhook(self, webhook_id: Id) -> Flow[types.WebhookWithSecret]:
        """Make a new secret; for a day deliveries carry the signature of the old one, too."""
        return self._post(at("webhooks/{}/rotate", webhook_id))

    @listing(types.EventOutput)
    def list_webhook_events(
        self,
        webhook_id: Id,
        *,
        state: types.EventOutputStateEnum | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over what a webhook was told or is to be told, newest first."""
        return self._list(at("webhooks/{}/events", webhook_id), named(locals(), "webhook_id"))

    @operation
    def redeliver_event(self, event_id: Id) -> Flow[types.EventOutput]:
        """Have an event delivered once more, under the same id, whatever became of it."""
        return self._post(at("events/{}/redeliver", event_id))
