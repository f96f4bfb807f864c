"""Addresses of the pages that erase, below `admin/`."""

from django.urls import path

from erasure.models import Scope
from erasure.pages import erase

app_name = "erasure"
ADDRESSES = {
    Scope.MESSAGE: "messages/<uuid:message_id>/erase/",
    Scope.CONVERSATION: "conversations/<uuid:conversation_id>/erase/",
    Scope.NOTE: "notes/<uuid:note_id>/erase/",
    Scope.USER: "notes/<uuid:note_id>/erase-user/",
    Scope.TENANT: "tenants/<uuid:tenant_id>/erase/",
}
urlpatterns = [
    path(address, erase, {"scope": scope}, name=scope.value) for scope, address in ADDRESSES.items()
]
