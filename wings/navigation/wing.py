"""Search, contexts, reconstruction, links and the mirror of files."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.wings import Wing
from wings.navigation import contexts as stored
from wings.navigation import mirror
from wings.navigation.api import contexts, links, memories, reconstruct, search

WING = Wing(
    routes=(
        path("memories/<id:memory_id>", memories.OneMemory.as_view()),
        path("memories/<id:memory_id>/chunk", memories.MemoryChunk.as_view()),
        path("memories/<id:memory_id>/links", links.MemoryLinks.as_view()),
        path("memories/<id:memory_id>/walk", links.MemoryWalk.as_view()),
        path("contexts", contexts.Contexts.as_view()),
        path("contexts/<id:context_id>", contexts.OneContext.as_view()),
        path("contexts/<id:context_id>/add", contexts.ContextAdd.as_view()),
        path("contexts/<id:context_id>/text", contexts.ContextText.as_view()),
        path("reconstruct_context", reconstruct.ReconstructContext.as_view()),
        path("search", search.Search.as_view()),
    ),
    flows={Kind.MIRROR: Flow(run=mirror.mirror_changed, asks_model=False)},
    chores=(stored.delete_expired,),
    shows_content=("retrieval.context", "retrieval.contextsection"),
)
