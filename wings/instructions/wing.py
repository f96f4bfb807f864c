"""What a tenant's operator wants learned, in versions, with a preview."""

from django.urls import path

from memoryproject.wings import Wing
from wings.instructions import api, services

WING = Wing(
    routes=(
        path("instructions", api.CurrentInstructions.as_view()),
        path("instructions/versions", api.InstructionVersions.as_view()),
        path("instructions/undo", api.UndoInstructions.as_view()),
        path("instructions/preview", api.PreviewInstructions.as_view()),
    ),
    find_instructions=services.find_instructions,
)
