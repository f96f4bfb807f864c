#!/bin/sh
# Run once by PostgreSQL's image: the database and its owner, who is no superuser.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres \
    --set=password="$DATABASE_PASSWORD" <<'EOS'
CREATE ROLE memory LOGIN PASSWORD :'password';
CREATE ROLE memory_app;
GRANT memory_app TO memory;
CREATE DATABASE memory OWNER memory;
\connect memory
CREATE EXTENSION vector;
CREATE EXTENSION btree_gist;
EOS
