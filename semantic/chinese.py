"""Chinese: rewriting into the third person, judging sentences, reading claims."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic.chinese_endings import find_chinese_endings
from semantic.claims import Claim, Slot, stems

SMALL_TALK = re.compile(
    r"^(?:你好|您好|嗨|哈哈|谢谢|多谢|感谢|再见|拜拜|晚安|早上好|早安|好的|好啊|好吧|嗯|是的|"
    r"对的?|没错|太好了|太棒了|"
    r"不客气|没关系|加油|没问题|当然|哇|真的|祝|辛苦)[^，,]{0,8}$"
)
OPENING = re.compile(
    r"^(?:(?:嗯+|哦+|啊|哇|哈哈+|对了|对啊?|是的|好的|谢谢(?:你|您)?|其实|话说|你好|您好|嗨|"
    r"不过|但是|所以|而且|"
    r"另外|还有|AI伴侣|朋友|亲爱的|顺便说一下|说起来|唉|哎)[，,！!。、\s]+)+"
)
# Talk about the talk itself, and thanks in the middle of a sentence.
ABOUT_THE_CHAT = re.compile(
    r"(?:想|要|来)(?:和|跟|问|向)(?:你|您)?[^，。]{0,4}(?:聊|谈|请教|问|分享)|(?:谢谢|"
    r"感谢)(?:你|您)|"
    r"(?:你|您)的(?:建议|鼓励|支持)|不错的建议|认识(?:你|您)"
)
# Without "I" they speak of what was said before.
VAGUE = re.compile(r"^(?:这|那|它|他|她|听起来|听上去|看起来|真|太)")
HYPOTHETICAL = re.compile(r"^(?:如果|假如|要是|也许|或许|可能|万一|假设)")
QUESTION = re.compile(
    r"[?？]\s*$|(?:吗|呢|么)[。！!]?$|^(?:为什么|怎么|什么|哪|谁|是不是|能不能|可不可以)"
)
HAN = re.compile(r"[\u3400-\u9fff]")
FUNCTION_CHARACTERS = re.compile(r"[的了吗呢吧啊呀嘛我你他她它们这那是在有和就都也很不个]")

PLACE_END = r"(?=了|[，。；！!,;（(\s]|工作|生活|上班|和|跟|住|读书|已经|三|两|很|好|$)"
SUBJECT = r"^(?P<s>[^，。；！]{2,20}?)"
ADVERB = (
    r"(?:现在|目前|如今|已经|还是|还|就|一直|又|刚刚|刚|最近|都|也|其实|终于|马上|真的|很|非常|"
    r"特别|超级?|更|比较|"
    r"(?:和其他人)|全家|就|只|上个月|上周|上星期|昨天|今天|今年|去年|后来|前几天|这个月|这周|"
    r"开始|正式|一家人?|全家|"
    r"[（(][^）)]*[）)]|从[^，。]{1,8}?)*"
)
ONCE = r"(?:以前|曾经|过去|原来|从前|小时候|之前|原先)"
JOBS = (
    r"老师|教师|医生|护士|律师|工程师|程序员|设计师|会计|司机|厨师|记者|作家|画家|摄影师|警察|"
    r"学生|研究生|大学生|"
    r"经理|产品经理|销售|翻译|教授|演员|歌手|音乐家|农民|工人|公务员|编辑|顾问|助理|导游|咖啡师|"
    r"数据分析师|研究员|自由职业者"
)
NUMBER = r"[\d一二两三四五六七八九十]+"
EVENTS = (
    r"婚礼|会议|面试|考试|航班|手术|聚会|演唱会|旅行|约会|生日会|答辩|比赛|课|预约|报告|"
    r"体检|聚餐|展览|截止日期"
)
ATTRIBUTES = (
    r"生日|电话|手机号码?|号码|名字|地址|邮箱|微信号?|身高|体重|鞋码|专业|昵称|网名|"
    r"纪念日|血型|密码|工资|预算|母语"
)
DO = r"(?:(?:吃|喝|看|听|玩|打|去|弹|踢|做|学|跑|养|读|上|坐|买|用)(?=[\u3400-\u9fffA-Za-z]{2}))?"


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(SUBJECT + ADVERB + body)


HOME = _pattern(
    r"(?:住在|居住在|定居在?|搬到|搬去|搬回|搬家到|搬来|移居到?)了?(?P<v>[^，。；了,\s（(]{1,12}?)"
    + PLACE_END
)
HOME_IS = _pattern(r"(?:的)?家(?:就)?(?:在|住)(?P<v>[^，。；了]{2,10}?)" + PLACE_END)
LIVING = _pattern(r"在(?P<v>[^，。；了]{2,10}?)(?:生活|定居|居住)")
NO_HOME = _pattern(r"(?:不再|不)住(?:在)?(?P<v>[^，。；了]{0,10}?)(?:了|$|[，。])")
EMPLOYER = _pattern(
    r"(?:在(?P<v>[^，。；了]{2,14}?)(?:工作|上班|任职|做(?=[\u3400-\u9fff])|当(?="
    + JOBS
    + r"))|(?:加入|跳槽到|跳槽去|入职|换到)了?(?P<w>[^，。；了]{2,14}?)(?=了|工作|上班|[，。]|$))"
)
JOB = _pattern(
    rf"(?:在[^，。]{{0,14}})?(?:是|当|做|成为|改行做|转行做|转行当|改当|改做)(?:了|上了?|"
    rf"上)?(?:一名|一个|一位|个|名)?[^，。的]{{0,4}}?(?P<v>{JOBS})"
)
NO_JOB = _pattern(
    rf"(?:辞职|离职|失业|退休|被裁|(?:不再|不)(?:当|做|是)(?P<v>{JOBS})|"
    rf"不在(?P<w>[^，。；了]{{2,12}}?)(?:工作|上班))"
)
STATUS = _pattern(
    r"(?:是)?(?P<v>单身|结婚|已婚|订婚|离婚|有女朋友|有男朋友|交了女朋友|交了男朋友|谈恋爱|"
    r"和[^，。]{1,8}在一起)"
)
SPLIT = _pattern(r"[^，。]{0,12}?分手")
FAVORITE = re.compile(
    rf"{SUBJECT}{ADVERB}最(?:喜欢|爱)的?{DO}?的?(?P<k>[^，。是]{{1,6}}?){ADVERB}(?:变成|换成|"
    rf"是)了?(?P<v>[^，。；了]{{1,12}})"
)
LIKE = _pattern(
    rf"最?(?:喜欢|热爱|喜爱|偏爱|爱上|迷上|爱)了?{DO}(?!的)(?P<v>[^，。；了！（(]{{1,14}})"
)
DISLIKE = _pattern(
    r"(?:(?:不太|不再|不是很|不怎么|不)(?:喜欢|爱)|讨厌|受不了|厌倦)了?"
    + DO
    + r"(?P<v>[^，。；了！（(]{1,14})"
)
USED_TO = _pattern(
    rf"{ONCE}(?:很|非常|特别|最|一直|也)*(?:喜欢|爱|热爱){DO}(?P<v>[^，。；了！（(]{{1,14}})"
)
ATTRIBUTE = re.compile(
    rf"{SUBJECT}的?(?P<k>{ATTRIBUTES}){ADVERB}(?:改成|换成|改为|是|"
    rf"叫)了?(?:在)?(?P<v>[^，。；了]{{1,24}})"
)
EVENT = re.compile(
    rf"^(?:(?P<s>[^，。；！]{{1,10}}?)的?)?(?P<k>{EVENTS}){ADVERB}(?:改到|推迟到|提前到|改成|"
    rf"改在|延期到|在|定在|是)了?(?P<v>[^，。；了]{{1,16}})"
)
AGE = _pattern(rf"(?:今年|已经|刚满|满|快|是)*(?P<v>{NUMBER})岁")
COUNT = _pattern(
    rf"(?:有|养了?|养着)了?(?P<v>{NUMBER})(?:只|个|条|辆|位)(?P<k>猫|狗|孩子|儿子|女儿|车|哥哥|"
    rf"弟弟|姐姐|妹妹)"
)
DIET = _pattern(r"(?:是|开始|改|又开始|成了)?(?P<v>吃素|素食者|素食主义者|纯素|吃肉)")
RULE = re.compile(r"^(?P<s>助手)(?P<n>不应该|不要|别)?(?:应该)?(?P<v>.+?)[。！]?$")
# More than a denial: it happened, and is news.
EVENTFUL = re.compile(
    r"卖|退|送|捐|取消|放弃|去世|过世|死|倒闭|分手|离婚|辞|解散|丢|不成了|黄了|泡汤"
)
TAKEN_IN = re.compile(r"把([^，。把]{1,4}?)(?:接|搬|带|送)(?:到|去|回)")
DENIED = re.compile(r"(?:不再?|不是|没有?|不用)$")
CHANGED = re.compile(
    r"现在|改|换|搬|推迟|提前|不再|其实|更正|说错|后来|跳槽|转行|如今|了$|了[。！，]"
)


def to_third_person(sentence: str, *, speaker: str, listener: str) -> str:
    """Return a Chinese sentence as said about `speaker`, who is put first if not mentioned."""
    text = OPENING.sub("", sentence.strip()).rstrip("~～ ")
    text = re.sub(r"^(?:不过|但是|所以|而且)", "", text)
    mentions = bool(re.search(r"我|咱", text)) or speaker in text
    text = re.sub(r"我们的|咱们的", f"{speaker}和其他人的", text)
    text = re.sub(r"我们|咱们|咱", f"{speaker}和其他人", text)
    text = re.sub(r"(?<=[^自])我自己", speaker, text)
    text = text.replace("我", speaker)
    if listener:
        text = re.sub(r"(?:你|您)们?", listener, text)
    if not mentions:
        text = f"{speaker}{text}"
    first = text.find(speaker) + len(speaker)
    return text[:first] + text[first:].replace(f"{speaker}的", "自己的")


def is_worth_keeping(sentence: str) -> bool:
    """Whether a Chinese sentence states something; questions and small talk do not."""
    text = OPENING.sub("", sentence.strip())
    bare = text.rstrip("。！!~～，, ")
    if QUESTION.search(text) or SMALL_TALK.match(bare) or HYPOTHETICAL.match(text):
        return False
    weight = len(HAN.findall(FUNCTION_CHARACTERS.sub("", bare)))
    own = "我" in text or "咱" in text
    about_listener = ("你" in text or "您" in text) and not own
    if ABOUT_THE_CHAT.search(bare) or (not own and VAGUE.match(text)):
        return False
    return not about_listener and weight >= (2 if own else 6)


def read_chinese_claims(fact: str, *, speaker: str = "", topic: str = "") -> tuple[Claim, ...]:
    """Return the claims of a Chinese sentence about a named person, in order.

    `speaker` is whom a clause without a subject is about; `topic` is what was said just
    before.
    """
    claims: list[Claim] = []
    owner = speaker.lower()
    for clause in re.split(r"[，。；！,;]\s*(?:但是?|不过|而且|然后|所以|并且|而)?", fact):
        text = re.sub(
            r"^(?:但是?|不过|其实|后来|现在|最近|今年|去年|上个月|上周|如今|所以|而|"
            r"从\w{1,6}开始)+",
            "",
            clause.strip(),
        )
        if not text:
            continue
        text = TAKEN_IN.sub(r"\1搬到", text)
        if owner and owner not in text:
            text = owner + text
        found = list(_clause_claims(text, bool(CHANGED.search(fact)), owner, topic))
        owner = owner or next((c.subject for c in found if c.subject), "")
        claims += found
        topic = text
    return tuple(claims)


def _clause_claims(text: str, changed: bool, owner: str, topic: str) -> Iterator[Claim]:
    past = re.search(rf"{ONCE}|年前|(?:19|20)\d\d年", text) is not None
    for slot, pattern, holds in SIMPLE:
        match = pattern.match(text)
        if match is None or (past and pattern is not USED_TO):
            continue
        groups = match.groupdict()
        value = stems(groups.get("v") or groups.get("w") or "")
        subject = _subject(groups.get("s") or "")
        if (slot is Slot.EMPLOYER and not value) or "自己" in (groups.get("v") or ""):
            continue
        denied = (
            not holds or bool(groups.get("n")) or DENIED.search(groups.get("s") or "") is not None
        )
        yield Claim(subject, slot, groups.get("k") or "", value, not denied, changed)
        if slot in {Slot.STANCE, Slot.ATTRIBUTE, Slot.RULE}:
            return
    if past:
        return
    for words in find_chinese_endings(text, speaker=owner, topic=topic):
        gone = re.sub(rf"^{DO}", "", words)
        leads = text.replace(owner, "", 1).startswith(words[:2])
        near = frozenset({words[:2]}) if leads else frozenset()
        yield Claim(
            owner,
            Slot.ENDING,
            "gone" if EVENTFUL.search(text) else "plain",
            stems(gone),
            False,
            True,
            near,
        )


def _subject(text: str) -> str:
    """Return whose claim it is, without the adverbs and companions that a pattern let in."""
    plain = re.sub(r"(?:和其他人|现在|已经|不再|不是|不|把|的|最|跟.*|和.*)+$", "", text)
    return plain.lower()


SIMPLE: tuple[tuple[Slot, re.Pattern[str], bool], ...] = (
    (Slot.RULE, RULE, True),
    (Slot.ATTRIBUTE, FAVORITE, True),
    (Slot.ATTRIBUTE, ATTRIBUTE, True),
    (Slot.EVENT, EVENT, True),
    (Slot.STANCE, USED_TO, False),
    (Slot.HOME, NO_HOME, False),
    (Slot.HOME, HOME, True),
    (Slot.HOME, LIVING, True),
    (Slot.HOME, HOME_IS, True),
    (Slot.JOB, NO_JOB, False),
    (Slot.EMPLOYER, EMPLOYER, True),
    (Slot.JOB, JOB, True),
    (Slot.STATUS, SPLIT, False),
    (Slot.STATUS, STATUS, True),
    (Slot.DIET, DIET, True),
    (Slot.AGE, AGE, True),
    (Slot.COUNT, COUNT, True),
    (Slot.STANCE, DISLIKE, False),
    (Slot.STANCE, LIKE, True),
)
