"""Old names of commands that became options of others, until the next version."""

import sys


def translate(arguments: list[str]) -> list[str]:
    """Return the arguments of an old command in their new form; print what changed to stderr."""
    match arguments:
        case ["drain_jobs", *rest]:
            new = ["worker", "--drain", *rest]
        case ["list_keys", *rest]:
            new = ["keys", *rest]
        case ["rotate_key", *rest]:
            new = ["keys", "--rotate", *rest]
        case ["revoke_key", *rest]:
            new = ["keys", "--revoke", *rest]
        case ["set_rate", "--key", key, rate]:
            new = ["keys", key, "--rate", rate]
        case ["set_rate", "--tenant", name, "--bytes", rate]:
            new = ["tenant", name, "--sent-bytes", rate]
        case ["set_rate", "--tenant", name, rate]:
            new = ["tenant", name, "--calls", rate]
        case ["set_quota", *rest]:
            options = {"--bytes": "--stored-bytes", "--rows": "--stored-rows"}
            new = ["tenant", *(options.get(word, word) for word in rest)]
        case ["set_budget", name, amount]:
            new = ["tenant", name, "--budget", amount]
        case ["set_scope", name, scope]:
            new = ["tenant", name, "--scope", scope]
        case ["accept_pepper"]:
            new = ["migrate", "--accept-pepper"]
        case ["import_facts", *rest]:
            new = ["import_from", "facts", *rest]
        case _:
            return arguments
    sys.stderr.write(f"{arguments[0]} is now: manage.py {' '.join(new)}\n")
    return new
