"""Read-only base of all pages of the admin.

A subclass names the columns of its list; how a value is shown depends on its field, see
`memoryproject.adminkit.values`. Wings add stories and links to rows of the core.
"""

import uuid
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.postgres.fields import ArrayField
from django.core.paginator import Paginator
from django.db import DataError, ProgrammingError, models
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from unfold.admin import ModelAdmin  # type: ignore[import-untyped]

from memoryproject.adminkit import values
from memoryproject.adminkit.site import Entry, find_lists
from memoryproject.edge import replicas
from memoryproject.edge.http import is_away
from memoryproject.wings import list_wings


class Listing(NamedTuple):
    """A link to the list of `model`, filtered by `field` to this row."""

    title: str
    model: type[models.Model]
    field: str

    def href(self, row: models.Model) -> str:
        return values.list_address(self.model, **{self.field: row.pk})


class Story(NamedTuple):
    """The main part of a row's page; the columns are folded below it."""

    template: str = ""
    tell: Callable[[HttpRequest, Any], Mapping[str, Any]] = lambda request, row: {}
    """Function that returns what the template shows of a row, beside `original`."""
    actions: tuple[Callable[..., Any], ...] = ()
    """Actions of the list on the selected rows."""


WRITTEN = (models.TextField, models.JSONField, ArrayField)
"""Fields with text that somebody wrote: a filter by address would reveal it bit by bit."""
RECENT_KEY = "recent"
"""Session key for the labels and ids of the rows whose pages were opened last."""
RECENT_AT_MOST = 8
READ_THROUGH_AT_MOST = 10_000
"""Number of newest rows of a list that are searched for words without an index."""

Listings = tuple[Listing, ...]


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts only up to `at_most`, so that a list of a million rows opens at once."""

    at_most = 10_001

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[: self.at_most].count()


class ListAdmin(ModelAdmin):  # type: ignore[misc]
    """Opens the list without filters if those in its address are invalid."""

    list_before_template = "admin/list_about.html"

    @cached_property
    def story(self) -> Story:
        stories = [wing.stories[self.model] for wing in list_wings() if self.model in wing.stories]
        return stories[0] if stories else Story()

    @property
    def actions(self) -> Any:
        return self.story.actions

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Show the list, read from a replica if it has the person's last change."""
        entry = find_lists().get(self.model._meta.label_lower, Entry(""))
        title = capfirst(self.model._meta.verbose_name_plural)
        extra_context = {
            "title": title,
            "about": entry.about,
            "maker": entry.make if entry.make and entry.make.is_for(request.user) else None,
            **(extra_context or {}),
        }
        if request.method != "GET":
            return super().changelist_view(request, extra_context)
        self.has_view_or_change_permission(request)  # rights are looked up at the primary

        def render() -> Any:
            response = super(ListAdmin, self).changelist_view(request, extra_context)
            return response.render() if isinstance(response, TemplateResponse) else response

        position = request.COOKIES.get(replicas.COOKIE, "")
        since = int(position[:18]) if position.isdecimal() and position.isascii() else 0
        response, source = replicas.read(render, since="%s::bigint", params=[since])
        replicas.name_source(response, source)
        return response

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the list, its rows prepared by wings; turn errors of a filter into Django's.

        Raises:
            IncorrectLookupParameters: a filter has NUL, an invalid pattern, or a lookup that its
                column does not have; Django handles it.
        """
        try:
            changelist = super().get_changelist_instance(request)
            changelist.result_list = list(changelist.result_list)
        except (DataError, ProgrammingError, IndexError, ValueError) as error:
            if is_away(error):
                raise
            raise IncorrectLookupParameters from error
        for wing in list_wings():
            wing.prepare_rows(request, changelist.result_list)
        return changelist


class ReadOnlyAdmin(ListAdmin):
    """Lists and shows the rows of all tenants; adds, changes and deletes nothing."""

    hidden: tuple[str, ...] = ()
    """Columns that are never shown or loaded, nor open to a filter in the address."""
    id_search: tuple[str, ...] = ("id",)
    """Columns searched for a UUID typed into the search box."""
    points_at: Mapping[str, str] = {}
    """Page for each column that holds an id without a foreign key."""
    column_permissions: Mapping[str, str] = {}
    """Permission needed to see a column of the list."""
    more_lines: tuple[str, ...] = ()
    """Methods whose results are shown below the columns of a row's page."""
    listings: Listings = ()

    def __init__(self, model: Any, site: admin.AdminSite) -> None:
        """Take the menu's name of the list for the page's path, too."""
        super().__init__(model, site)
        name = find_lists().get(model._meta.label_lower, Entry("")).title.lower()
        if name and name != str(model._meta.verbose_name_plural).lower():
            model._meta.verbose_name_plural = name

    @property
    def actions(self) -> Any:
        """Return the story's actions; None: not even Django's, so that no row can be selected."""
        return self.story.actions or None

    ordering: tuple[str, ...] = ("-id",)
    list_per_page = 50
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    search_fields: tuple[str, ...] = ("id",)
    change_form_template = "admin/read_only_form.html"
    change_form_outer_before_template = "admin/story.html"
    change_form_outer_after_template = "admin/belongings.html"

    @property
    def search_help_text(self) -> str:
        return "A whole id" if self.search_fields == ("id",) else "Words, or a whole id"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows of the current tenant, as the person may see them."""
        door: models.Manager[Any] = getattr(
            self.model, "across_tenants", self.model._default_manager
        )
        rows = door.defer(*self.hidden).order_by(*self.ordering)
        looked_at = request.tenants.current  # type: ignore[attr-defined]
        names = {field.name for field in self.model._meta.fields}
        if looked_at and "tenant" in names:
            rows = rows.filter(tenant=looked_at)
        seen: QuerySet[Any] = request.reader.rows(rows)  # type: ignore[attr-defined]
        return seen

    def _refuse(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_add_permission = has_change_permission = has_delete_permission = _refuse

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        column = lookup.split("__")[0]
        fields = {field.name: field for field in self.model._meta.fields}
        if column in self.hidden or isinstance(fields.get(column), WRITTEN):
            return False
        return bool(super().lookup_allowed(lookup, value, request))

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Return the columns that the person may see; the header names the selected tenant."""
        needs, sees = self.column_permissions, request.user.has_perm
        of_one = request.tenants.current is not None  # type: ignore[attr-defined]
        return [
            self._cells.get(name, name)
            for name in super().get_list_display(request)
            if (name not in needs or sees(needs[name])) and not (of_one and name == "tenant")
        ]

    def get_list_select_related(self, request: HttpRequest) -> tuple[str, ...]:
        keys = [field.name for field in self.model._meta.fields if field.is_relation]
        return tuple(name for name in self.list_display if name in keys)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return list(self._lines)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if not self.story.template:
            return [(None, {"fields": self._lines})]
        return [("All columns", {"fields": self._lines, "classes": ["collapse"]})]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> Any:
        sought, has_words = read_id(search_term), bool(search_term.strip())
        if sought is not None:
            places = Q.create([(name, sought) for name in self.id_search], connector=Q.OR)
            return queryset.filter(places), False
        if has_words and self.search_fields == ("id",):
            return queryset.none(), False
        if has_words:
            newest = queryset.order_by("-pk").values("pk")[:READ_THROUGH_AT_MOST]
            queryset = queryset.filter(pk__in=newest)
        return super().get_search_results(request, queryset, search_term)

    def _get_obj_does_not_exist_redirect(self, *args: Any) -> NoReturn:
        """Tell that the row does not exist, and where else the person may look."""
        raise Http404

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        row = kwargs.get("obj")
        if row is not None:
            opened = [row._meta.label_lower, str(row.pk)]
            before = [one for one in request.session.get(RECENT_KEY, []) if one != opened]
            request.session[RECENT_KEY] = [opened, *before][:RECENT_AT_MOST]
            listings = [(item.title, item.href(row)) for item in self.listings]
            doors = [door for wing in list_wings() for door in wing.list_doors(request, row)]
            context["listings"] = [*listings, *doors]
            if self.story.template:
                context["story"] = self.story.template
                context |= self.story.tell(request, row)
        return super().render_change_form(request, context, *args, **kwargs)

    @cached_property
    def _cells(self) -> dict[str, Any]:
        """The list's column of each field: long texts are cut, times are exact."""
        return {
            field.name: values.show(field, self.points_at, brief=True)
            for field in self.model._meta.fields
        }

    @cached_property
    def _lines(self) -> list[Any]:
        columns = [
            values.show(field, self.points_at, brief=False)
            for field in self.model._meta.fields
            if field.name not in self.hidden
        ]
        return [*columns, *self.more_lines]


def read_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text.strip())
    except ValueError:
        return None
