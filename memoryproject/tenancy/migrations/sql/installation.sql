-- What an installation has noted about itself, a row for each thing; of no tenant, so without a
-- policy, and without a model: `memoryproject/tenancy/installation.py` reads and writes it.
CREATE TABLE public.tenancy_installation (
    name text PRIMARY KEY,
    value text NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN public.tenancy_installation.name IS 'What is noted, in words.';
COMMENT ON COLUMN public.tenancy_installation.noted_at IS 'When the value was noted last.';
