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
    """Whether the process runs, and its version; calls nothing else."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @describe("health_live", answers={200: OpenApiTypes.OBJECT}, auth=[])
    def get(self, request: Request) -> Response:
        return Response({"status": "ok", "version": VERSION})


class HealthReady(APIView):
    """Whether the database answers, is migrated and keeps tenants apart, and work is not stuck."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @describe("health_ready", answers={200: OpenApiTypes.OBJECT, 503: Error}, auth=[])
    def get(self, request: Request) -> Response:
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
