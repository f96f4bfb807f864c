"""Filters by words of our own, where a column alone does not say it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest


def words_filter(name: str, words: Callable[[], dict[str, Q]]) -> type[admin.SimpleListFilter]:
    """Return a filter that offers the words; `words` is asked anew for each page."""

    class WordsFilter(admin.SimpleListFilter):
        title = name
        parameter_name = name

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return [(word, word) for word in words()]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            word = self.value()
            return queryset.filter(words()[word]) if word in words() else queryset

    return WordsFilter
