"""Records of exports, imports and page views."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from memoryproject.database.constraints import index, unique
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel


class ExportRun(TenantModel):
    """Record that somebody exported memories: who, what, and how much."""

    person = models.CharField(max_length=150, help_text="The user's name in the admin.")
    table = models.CharField(max_length=16)
    format = models.CharField(max_length=8)
    filters = models.JSONField(default=dict, help_text="Filters, by field.")
    rows = models.PositiveIntegerField(
        null=True, help_text="Number of rows sent; NULL: interrupted, or still running."
    )
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        verbose_name = "export"

    def __str__(self) -> str:
        return f"{self.table} as {self.format}"


class PageRead(TenantModel):
    """Record that somebody viewed content in the admin: who, where and when, never the text."""

    person = models.CharField(max_length=150, help_text="The user's name in the admin.")
    page = models.CharField(max_length=64, help_text="The page by the name of its address.")
    subject = models.UUIDField(
        null=True, help_text="Row that was viewed; NULL: a list or a search."
    )
    words_sha256 = models.CharField(
        max_length=64,
        blank=True,
        help_text="Keyed hash of the search words, with the server's pepper.",
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        verbose_name = "page read"
        indexes = [index("console_pageread_by_time", "created_at")]

    def __str__(self) -> str:
        return f"{self.person}: {self.page}"


class ImportRun(TenantModel):
    """An import of a file, validated first, then written in batches."""

    class State(models.TextChoices):
        PREVIEW = "preview", "waits for a decision"
        RUNNING = "running", "being written"
        DONE = "done", "done"

    person = models.CharField(max_length=150, help_text="The user's name in the admin.")
    file_name = models.CharField(max_length=200)
    source = models.CharField(
        max_length=16,
        default="",
        db_default="",
        blank=True,
        help_text="The system that wrote it; empty: a file of facts.",
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.PREVIEW)
    reason = models.TextField(blank=True)
    total = models.PositiveIntegerField(
        help_text="Number of facts or records in the file that are new."
    )
    done = models.PositiveIntegerField(default=0, help_text="Number of them that are done.")
    opened = models.PositiveIntegerField(default=0, help_text="Facts or records that were added.")
    counts = models.JSONField(default=dict, help_text="What else the file held, by kind.")
    faults = models.JSONField(default=list, help_text="The first rows left out: line and reason.")
    last_changeset = models.UUIDField(
        null=True, help_text="The next batch adds to it if it goes on with the same conversation."
    )
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        verbose_name = "import"

    def __str__(self) -> str:
        return self.file_name


class ImportBatch(TenantModel):
    """Some rows of an import: written and marked in one transaction, and so only once."""

    run = TenantForeignKey(ImportRun, db_index=False)
    position = models.PositiveIntegerField()
    rows = models.JSONField(help_text="The facts or records to add; emptied when that is done.")
    changesets = ArrayField(models.UUIDField(), default=list, help_text="Its results.")
    done_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        verbose_name_plural = "import batches"
        constraints = [unique("console_import_batch_once", "tenant run position")]

    def __str__(self) -> str:
        return f"batch {self.position}"
