"""Checks at the start whether the models can be called, with messages for operators."""

import socket
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from django.conf import settings

from memoryproject.ai import breaker, context, embeddings, llm
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable, OperatorFault
from memoryproject.ai.remote_embedder import OpenAIEmbedder

LOOK_S = 0.2
"""Seconds to try each port at which a local server of language models may listen."""


def find_problem(*, patience_s: float = 10.0) -> str:
    """Return what is wrong with the configured models; empty if they seem to work.

    Asks the language model for one token, and the embedding endpoint for one vector: their answers
    count, not their lists of models. Takes at most twice `patience_s`.
    """
    problems = []
    if settings.LLM != "offline":
        why = _ask(lambda: context.ask_for_token(timeout_s=patience_s))
        name = breaker.find_chat_model()
        problems += [f"The language model {name.model} at {name.provider}: {why}."] if why else []
    embedder = embeddings.get_embedder()
    if isinstance(embedder, OpenAIEmbedder):
        why = _ask(lambda: embedder.embed_query("ready"))
        where = settings.EMBEDDING_BASE_URL
        problems += [f"The embedding model {embedder.model} at {where}: {why}."] if why else []
    llm.forget()  # workers are forked from here, and share no connection
    if not problems:
        return ""
    return " ".join([*problems, "Messages are stored and answers given; what needs it waits."])


def _ask(question: Callable[[], object]) -> str:
    """Return why a question was not answered; a refused parameter counts as an answer."""
    try:
        question()
    except OperatorFault as error:
        return str(error)
    except ModelUnavailable as error:
        if error.timed_out:
            return "it has not answered yet, and may still be loading its model"
        return "it cannot be reached" if not error.may_have_cost else f"it fails ({error})"
    except ModelMisbehaved:
        pass
    return ""


def find_local_servers() -> list[str]:
    """Return the values of MEMORY_LLM whose servers seem to run on this machine.

    Connects to their ports, a fifth of a second each, and sends nothing.
    """
    found = []
    for word, preset in settings.PRESETS.items():
        if preset.get("local"):
            parts = urlsplit(preset["url"])
            with suppress(OSError):
                socket.create_connection((parts.hostname, parts.port), timeout=LOOK_S).close()
                found.append(word)
    return found
