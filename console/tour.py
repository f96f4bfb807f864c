"""A tour of the admin in five steps: what each page is for, for whoever opens it first."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from console.pages import page_for, show_page
from console.texts import TOUR

STEPS_AT_MOST = 5


@page_for()
def show_tour(request: HttpRequest) -> HttpResponse:
    """Show the first five steps that the person may take, each with a link to its page."""
    steps = [step for step in TOUR if request.user.has_perm(step["permission"])][:STEPS_AT_MOST]
    return show_page(
        request,
        "console/tour.html",
        title="Tour",
        steps=[(step, reverse(step["page"])) for step in steps],
    )
