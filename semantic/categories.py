"""Says which of the eight kinds a fact is, by its words."""

from __future__ import annotations

import re

from semantic.claims import Slot
from semantic.engines import Category
from semantic.readings import Reading

IDENTITY_SLOTS = frozenset({Slot.HOME, Slot.EMPLOYER, Slot.JOB, Slot.STATUS, Slot.AGE, Slot.COUNT})
GOAL = re.compile(
    r"\b(?:wants? to|would (?:love|like) to|plan(?:s|ning)?(?: on| to|\b)|hop(?:es?|ing) to|is "
    r"going to|will|aims? to|dreams? of|"
    r"goals?|is thinking (?:of|about)|is looking (?:to|for|forward|into)|can't wait|considering|"
    r"intends? to|"
    r"wishes|determined to|aspir\w+|working towards?|saving (?:up )?for|is excited to|is keen "
    r"on|is trying to)\b|"
    r"打算|计划|想要|希望|准备|梦想|目标|将要|想(?:去|学|当|做|买|成为)",
    re.IGNORECASE,
)
PREFERENCE = re.compile(
    r"\b(?:loves?|likes?|enjoys?|prefers?|hates?|dislikes?|favou?rites?|can't stand|is a (?:big "
    r"|huge )?fan|"
    r"adores?|allergic|doesn't (?:like|enjoy)|is not a fan)\b|喜欢|讨厌|爱(?!人)|偏好|更喜|"
    r"受不了|过敏",
    re.IGNORECASE,
)
INTEREST = re.compile(
    r"\b(?:hobb(?:y|ies)|interest(?:s|ed)? in|into|passion(?:ate)?|plays?|playing|reads?|"
    r"reading|paints?|painting|pottery|"
    r"cook(?:s|ing)?|bak(?:es?|ing)|hik(?:es?|ing)|music|games?|gaming|movies?|books?|"
    r"photography|garden(?:s|ing)|"
    r"yoga|danc(?:es?|ing)|collects?|draw(?:s|ing)?|guitar|piano|chess|follows|fascinated)\b|"
    r"爱好|兴趣|感兴趣|着迷|在学",
    re.IGNORECASE,
)
PERSONALITY = re.compile(
    r"\b(?:is (?:\w+ )?(?:shy|anxious|patient|impatient|optimistic|pessimistic|stubborn|"
    r"introvert\w*|extrovert\w*|"
    r"organi[sz]ed|messy|curious|honest|sensitive|perfectionist|competitive|determined|"
    r"easygoing|confident|"
    r"ambitious|nervous|emotional|outgoing|quiet|calm|creative person)|values?|believes?|tends "
    r"to|always tries|"
    r"gets (?:nervous|anxious|angry)|cares? (?:deeply|about)|motivat\w+|feels?|finds?|"
    r"appreciates?|is grateful|"
    r"is thankful|is proud|matters to|means (?:a lot|so much))\b|性格|内向|外向|害羞|乐观|悲观|"
    r"容易紧张|认真|急躁|觉得|相信",
    re.IGNORECASE,
)
# Stated outright, it outweighs whatever else the sentence tells.
CHARACTER = re.compile(r"性格|内向|外向|\b(?:introvert|extrovert|perfectionist)", re.IGNORECASE)
RELATIONSHIP = re.compile(
    r"\b(?:husband|wife|kids?|child|children|son|daughter|mother|father|mom|mum|dad|parents?|"
    r"brother|sister|"
    r"famil(?:y|ies)|friends?|girlfriend|boyfriend|partner|colleagues?|fianc[eé]e?|grandma|"
    r"grandpa|grandmother|"
    r"grandfather|roommate|boss|team)\b|妈妈|爸爸|父母|妻子|丈夫|老公|老婆|女朋友|男朋友|朋友|"
    r"同事|儿子|女儿|妹妹|姐姐|弟弟|哥哥|家人",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:was|were|had|went|got|took|made|started|finished|attended|visited|joined|met|bought|"
    r"won|moved|\w+ed|"
    r"has (?:been|\w+ed)|saw|ran|gave|found|lost|did|came|tried|learned|saw)\b|"
    r"[去做学买看吃玩遇参加完成]了|昨天|上周|去年|前几天|上个月|过(?!去)",
)
IDENTITY = re.compile(
    r"\b(?:name is|years old|lives? in|is from|was born|grew up|works? (?:as|at|for|in)|"
    r"birthday|is (?:a|an) "
    r"(?:single|married|trans\w*|native|citizen|student)|nationality|hometown|email|phone|"
    r"speaks)\b|"
    r"名字(?:是|叫)|\d岁|住在|来自|出生|老家|职业|在[^，。]{2,10}(?:工作|上班)|毕业于",
    re.IGNORECASE,
)


def classify_fact(reading: Reading) -> Category:
    """Return the category of a third-person fact that is no guideline."""
    text, slots = reading.text, {claim.slot for claim in reading.claims}
    if slots & IDENTITY_SLOTS or IDENTITY.search(text):
        return Category.IDENTITY
    if Slot.STANCE in slots or Slot.DIET in slots:
        return Category.PREFERENCE
    if Slot.ATTRIBUTE in slots:
        favorite = re.search(r"favou?rite|最喜欢|最爱", text)
        return Category.PREFERENCE if favorite else Category.IDENTITY
    if GOAL.search(text):
        return Category.GOAL
    if PREFERENCE.search(text):
        return Category.PREFERENCE
    if PAST.search(text) and not CHARACTER.search(text):
        return Category.EXPERIENCE
    for pattern, category in (
        (CHARACTER, Category.PERSONALITY),
        (INTEREST, Category.INTEREST),
        (RELATIONSHIP, Category.RELATIONSHIP),
        (PERSONALITY, Category.PERSONALITY),
    ):
        if pattern.search(text):
            return category
    return Category.EXPERIENCE
