-- How fast keys and tenants call: what is left of each allowance, and the taking of one call.
--
-- The table is unlogged: a call that takes from it alone waits for no disk. A crash of the
-- database empties it, and all allowances are whole again. It has no model, and no policy:
-- it holds ids of keys and tenants and a time for each, and only the function touches it.
-- Room on each page for many versions of a row, so that an update stays on its page.
CREATE UNLOGGED TABLE tenancy_allowance (
    owner uuid NOT NULL,
    turn integer NOT NULL,
    uses integer NOT NULL,
    due_at timestamptz NOT NULL,
    PRIMARY KEY (owner, turn)
) WITH (fillfactor = 10);
COMMENT ON COLUMN tenancy_allowance.owner IS 'The key or tenant that calls.';
COMMENT ON COLUMN tenancy_allowance.turn IS
    'The row of the highest turn counts; a row that was changed often makes way for the next.';
COMMENT ON COLUMN tenancy_allowance.uses IS 'How often the row was changed.';
COMMENT ON COLUMN tenancy_allowance.due_at IS
    'When the allowance is whole again, if nobody calls meanwhile.';
-- Locks are taken in the order of `owners`: a key comes before its tenant, so no two calls
-- wait for each other. The clock is read when both are held. An end that lies further ahead
-- than a whole allowance takes was kept for a slower rate, or by a clock that was put back.
--
-- While a long transaction is open, as that of a backup, nothing clears away the dead versions
-- of a row, and each call would walk past all of them. So after 500 changes a row is replaced
-- by one of the next turn, which is found first. Who has waited for the old one looks again.
-- With sequential scans off, cached plans find a row by its key in a small table too.
CREATE FUNCTION public.memory_take_call(
    owners uuid[], steps double precision[], bursts integer[],
    OUT wait_s double precision, OUT short integer
) LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
    held public.tenancy_allowance[];
    one public.tenancy_allowance;
    moment timestamptz;
    lag_s double precision;
    too_far boolean := false;
BEGIN
    FOR i IN 1 .. cardinality(owners) LOOP
        LOOP
            SELECT * INTO one FROM public.tenancy_allowance WHERE owner = owners[i]
                ORDER BY turn DESC LIMIT 1 FOR UPDATE;
            EXIT WHEN FOUND;
            IF NOT EXISTS (SELECT FROM public.tenancy_allowance WHERE owner = owners[i]) THEN
                INSERT INTO public.tenancy_allowance (owner, turn, uses, due_at)
                    VALUES (owners[i], 0, 0, 'epoch') ON CONFLICT (owner, turn) DO NOTHING;
            END IF;
        END LOOP;
        held[i] := one;
    END LOOP;
    moment := clock_timestamp();
    wait_s := 0;
    short := 0;
    FOR i IN 1 .. cardinality(owners) LOOP
        one := held[i];
        lag_s := extract(epoch FROM one.due_at - moment);
        IF lag_s > steps[i] * bursts[i] THEN
            lag_s := steps[i] * bursts[i];
            too_far := true;
        END IF;
        one.due_at := moment + greatest(lag_s, 0) * interval '1 second';
        held[i] := one;
        IF lag_s - steps[i] * (bursts[i] - 1) > wait_s THEN
            wait_s := lag_s - steps[i] * (bursts[i] - 1);
            short := i;
        END IF;
    END LOOP;
    IF wait_s > 0 AND NOT too_far THEN
        RETURN;
    END IF;
    FOR i IN 1 .. cardinality(owners) LOOP
        one := held[i];
        IF wait_s = 0 THEN
            one.due_at := one.due_at + steps[i] * interval '1 second';
        END IF;
        IF one.uses < 500 THEN
            UPDATE public.tenancy_allowance SET due_at = one.due_at, uses = uses + 1
                WHERE owner = one.owner AND turn = one.turn;
        ELSE
            INSERT INTO public.tenancy_allowance (owner, turn, uses, due_at)
                VALUES (one.owner, one.turn + 1, 0, one.due_at);
            DELETE FROM public.tenancy_allowance WHERE owner = one.owner AND turn <= one.turn;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION public.memory_take_call IS
    'Take one call from each allowance, or from none: then wait_s says for how long not yet, '
    'and short which of the owners, counted from 1, makes it wait.';
