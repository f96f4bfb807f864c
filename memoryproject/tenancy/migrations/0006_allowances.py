"""How fast keys and tenants call: what is left of each allowance, and the taking of one call.

The table is unlogged: a call that takes from it alone waits for no disk. A crash of the
database empties it, and all allowances are whole again. It has no model, and no policy:
it holds ids of keys and tenants and a time for each, and only the function touches it.
"""

from django.db import migrations

# Room on each page for many versions of a row, so that an update stays on its page.
CREATE_TABLE = """
CREATE UNLOGGED TABLE tenancy_allowance (
    owner uuid PRIMARY KEY,
    due_at timestamptz NOT NULL
) WITH (fillfactor = 10);
COMMENT ON COLUMN tenancy_allowance.owner IS 'The key or tenant that calls.';
COMMENT ON COLUMN tenancy_allowance.due_at IS
    'When the allowance is whole again, if nobody calls meanwhile.';
"""

# Locks are taken in the order of `owners`: a key comes before its tenant, so no two calls
# wait for each other. The clock is read when both are held. An end that lies further ahead
# than a whole allowance takes was kept for a slower rate, or by a clock that was put back.
# With sequential scans off, cached plans find a row by its key however many dead versions
# a long transaction keeps.
CREATE_FUNCTION = """
CREATE FUNCTION public.memory_take_call(
    owners uuid[], steps double precision[], bursts integer[],
    OUT wait_s double precision, OUT short integer
) LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    due timestamptz[];
    one timestamptz;
    moment timestamptz;
    lag_s double precision;
    too_far boolean := false;
BEGIN
    FOR i IN 1 .. cardinality(owners) LOOP
        LOOP
            SELECT due_at INTO one FROM public.tenancy_allowance
                WHERE owner = owners[i] FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO public.tenancy_allowance (owner, due_at)
                VALUES (owners[i], 'epoch') ON CONFLICT (owner) DO NOTHING;
        END LOOP;
        due[i] := one;
    END LOOP;
    moment := clock_timestamp();
    wait_s := 0;
    short := 0;
    FOR i IN 1 .. cardinality(owners) LOOP
        lag_s := extract(epoch FROM due[i] - moment);
        IF lag_s > steps[i] * bursts[i] THEN
            lag_s := steps[i] * bursts[i];
            too_far := true;
        END IF;
        due[i] := moment + greatest(lag_s, 0) * interval '1 second';
        IF lag_s - steps[i] * (bursts[i] - 1) > wait_s THEN
            wait_s := lag_s - steps[i] * (bursts[i] - 1);
            short := i;
        END IF;
    END LOOP;
    IF wait_s > 0 AND NOT too_far THEN
        RETURN;
    END IF;
    FOR i IN 1 .. cardinality(owners) LOOP
        UPDATE public.tenancy_allowance
            SET due_at = due[i] + CASE WHEN wait_s > 0 THEN 0 ELSE steps[i] END * interval '1 second'
            WHERE owner = owners[i];
    END LOOP;
END $$;
COMMENT ON FUNCTION public.memory_take_call IS
    'Take one call from each allowance, or from none: then wait_s says for how long not yet, '
    'and short which of the owners, counted from 1, makes it wait.';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0005_keys_rotate"),
    ]
    operations = [
        migrations.RunSQL(CREATE_TABLE, "DROP TABLE tenancy_allowance"),
        migrations.RunSQL(
            CREATE_FUNCTION,
            "DROP FUNCTION public.memory_take_call(uuid[], double precision[], integer[])",
        ),
    ]
