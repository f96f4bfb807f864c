"""Health checks: whether the server can serve, and whether its work gets done."""

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.db.migrations.executor import MigrationExecutor
from drf_spectacular.types import OpenApiTypes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import backlog
from memoryproject.ai.breaker import find_models_away
from memoryproject.database.errors import UnsafeDatabase
from memoryproject.database.read_only import takes_writes
from memoryproject.edge.errors import Unavailable
from memoryproject.edge.schema import Error, describe
from memoryproject.process.release import VERSION
from memoryproject.tenancy.postgresql.look import check_pepper, check_walls


class HealthLive(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @describe("health_live", answers={200: OpenApiTypes.OBJECT}, auth=[])
    def get(self, request: Request) -> Response:
        """Ask whether the process runs.

        Whether the process runs, and its version; calls nothing else.
        200: It runs: `status` is `ok`, `version` that of the server.
        """
        return Response({"status": "ok", "version": VERSION})


class HealthReady(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @describe("health_ready", answers={200: OpenApiTypes.OBJECT, 503: Error}, auth=[])
    def get(self, request: Request) -> Response:
        """Ask whether the server can serve.

        503 where the database is away, is not migrated or would not keep tenants apart, or where
        background work has stood still for a minute; the body says which. Models that are away are
        named and leave the answer at 200: messages are stored and answers given without them.
        200: It can. `due_jobs` (a free worker could take them) and `dead_jobs` count jobs of all
            tenants, `oldest_due_s` and `last_done_s` are seconds (null: there is none),
            `models_away` names models that do not answer; `faults`, where there are any, says what
            an operator must mend.
        503: It cannot, or background work is stuck: `fields` says what is wrong.
        """
        try:
            check_walls(connections[DEFAULT_DB_ALIAS])
            check_pepper(connections[DEFAULT_DB_ALIAS])
        except UnsafeDatabase as error:
            raise _unready("walls", str(error)) from None
        except (DatabaseError, InterfaceError):
            raise _unready("database", "the database does not answer") from None
        if not takes_writes():
            raise _unready("database", "the database does not answer, or is read-only")
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise _unready("migrations", "migrations are missing: run manage.py migrate")
        if standstill := backlog.explain_standstill():
            raise _unready("jobs", standstill)
        away = list(find_models_away())
        models = {"models_away": [row.model for row in away]}
        if faults := [f"{row.model}: {row.fault}" for row in away if row.fault]:
            models["faults"] = faults
        return Response({"status": "ok", **backlog.measure_backlog(), **models})


def _unready(what: str, why: str) -> Unavailable:
    return Unavailable(why, fields={what: [why]})
