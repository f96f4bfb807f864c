"""Addresses of the pages that erase, below `admin/`."""

from django.urls import path

from erasure import pages

app_name = "erasure"
urlpatterns = [
    path("messages/<uuid:message_id>/erase/", pages.erase_message, name="message"),
    path(
        "conversations/<uuid:conversation_id>/erase/", pages.erase_conversation, name="conversation"
    ),
    path("notes/<uuid:note_id>/erase/", pages.erase_note, name="note"),
    path("notes/<uuid:note_id>/erase-user/", pages.erase_user, name="user"),
    path("tenants/<uuid:tenant_id>/erase/", pages.erase_tenant, name="tenant"),
]
