-- Erasures are kept for ever; what is done stays as it was.
CREATE TRIGGER erasure_erasure_kept BEFORE DELETE ON erasure_erasure
    FOR EACH ROW EXECUTE FUNCTION public.memory_refuse_change();
CREATE TRIGGER erasure_erasure_done BEFORE UPDATE ON erasure_erasure
    FOR EACH ROW WHEN (OLD.state = 'done') EXECUTE FUNCTION public.memory_refuse_change();
