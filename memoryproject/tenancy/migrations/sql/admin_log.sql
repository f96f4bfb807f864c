-- What operators did stays on record: Django's log of the admin can only grow.
-- An erasure may still take the name of a row out of it (`object_repr`).
CREATE TRIGGER django_admin_log_kept BEFORE DELETE ON django_admin_log
    FOR EACH ROW EXECUTE FUNCTION public.memory_refuse_change();
CREATE TRIGGER django_admin_log_unchanged BEFORE UPDATE ON django_admin_log
    FOR EACH ROW WHEN (
        (OLD.id, OLD.action_time, OLD.user_id, OLD.object_id, OLD.action_flag, OLD.change_message)
        IS DISTINCT FROM
        (NEW.id, NEW.action_time, NEW.user_id, NEW.object_id, NEW.action_flag, NEW.change_message)
    ) EXECUTE FUNCTION public.memory_refuse_change();
