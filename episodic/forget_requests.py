"""Recognizes a message that asks to forget something: "Forget that I …" in a few languages. Pure.

The request must be a whole sentence at the start of a message, of at most 300 characters. Text
after a comma may be news ("forget what I said about Friday, it is Monday now"): such a sentence is
no request. English, German, French, Spanish, Italian, Portuguese, Chinese and Japanese; what is
asked in another language is for `POST forget`.
"""

import re

LONGEST = 300
"""Characters of a request."""
_THING = r"([^,;:.!?。！？\n]+)"
"""Group of each pattern: the text to forget."""
_WORDINGS = (
    rf"""(?:please\ )?forget\ (?:
        that\ (?=i\b|i['’]|my\ |we\b|we['’]|our\ ) | about\ (?=my\ |our\ |me\ ) | (?=my\ |our\ )
        | (?:everything|all|anything)\ about\ | everything\ i\ (?:said|told\ you)\ about[ ]
        | what\ i\ (?:said|told\ you)\ about\ ){_THING}""",
    rf"""(?:bitte\ )?(?:vergiss|vergessen\ sie)(?:\ bitte)?,?\ (?:
        dass\ (?=ich\ |mein|wir\ |unser) | alles\ (?:über|zu)\ | (?=mein|unser)){_THING}""",
    rf"""(?:s['’]il\ te\ pla[iî]t,?\ )?oublie[sz]?\ (?:
        que?\ (?=je\ |j['’]|mon\ |ma\ |mes\ |nous\ ) | tout\ sur\ | (?=m(?:on|a|es)\ )){_THING}""",
    rf"""(?:por\ favor,?\ )?olvid[ae]\ (?:que\ | todo\ sobre\ | (?=mi\ |mis\ )){_THING}""",
    rf"""(?:per\ favore,?\ )?dimentica\ (?:che\ | tutto\ su\w*\ | (?=il\ mio|la\ mia)){_THING}""",
    rf"""(?:por\ favor,?\ )?esque[cç][ae]\ (?:que\ | tudo\ sobre\ | (?=o\ meu|a\ minha)){_THING}""",
    rf"(?:请|請)?(?:你|您)?(?:忘记|忘記|忘掉|忘了)(?:关于)?(?=.*我){_THING}",
    r"([^。！？\n]{2,})(?:こと|の)(?:は|を)忘れて(?:ください|下さい|ね)?",
)
_SENTENCE = re.compile(rf"(?:{'|'.join(_WORDINGS)})(?:[.!。！\n]|$)", re.IGNORECASE | re.VERBOSE)


def read_request(content: str) -> tuple[str, bool] | None:
    """Return the text that a message asks to forget, and whether it says nothing else; or None."""
    content = content.strip()
    match = _SENTENCE.match(content[: LONGEST + 1])
    if match is None or match.end() > LONGEST:
        return None
    thing = next(filter(None, match.groups()))
    return thing.strip(), not content[match.end() :].strip()
