"""Finds what a Chinese clause says is over: 不再, 戒了, 去不成了, 送人了."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What stands before the cue is over: 自行车卖了, 婚礼取消了, 大福送给外婆了.
BEFORE = re.compile(
    r"(?P<x>[^，。；]+?)(?:就|也|都|又|已经|刚刚?|最后|昨天|今天|上周|上个月|前几天|最近|全|给|"
    r"被|早就|早|终于|"
    r"[（(][^）)]*[）)])*"
    r"(?:(?:卖|退|戒|扔|丢|送|捐|删|注销|卸载|拆|砍|停|断|辞|推|换|处理|转让|借|报废|坏|摔|砸|"
    r"偷)(?:掉了?|了|给|人了?|出去了?|光了?|完了)|"
    r"取消了?|放弃了?|黄了|泡汤|[听吃看玩喝]?[腻厌]了|出掉?了(?=$|[，。])|报废了?|被偷了?|坏了|"
    r"吹了|告吹|没戏|没了|作罢|算了|散了|解散|倒闭|关门|关了|停业|停办|"
    r"去世|过世|死了|走丢|跑丢|丢了|不见了|到期|结束了|完了|不干了|分了|掰了|[^，。；]?不成了|"
    r"[^，。；]?不了了)"
)
# What follows the cue is over: 不再打球, 放弃考研, 没再跑步了.
AFTER = re.compile(
    r"(?:再也不|再也没|不再|没再|早就不|早不|不(?:打算|想|会|能|准备|去|用|需要)(?=[^，。；]+了)|"
    r"不(?=[^，。；是好错太够行对成了起下到见]+了(?:$|[，。！；]))|"
    r"取消了?|放弃了?|戒掉?了?|停止了?|停掉了?|卖掉?了|退出了?|退掉了?|辞掉?了|扔掉?了|丢了|"
    r"打消了|告别了?|"
    r"离开了?|搬离了?|搬出了?|不爱|没兴趣|打消|终止了?|退订了?|注销了?)(?P<x>[^，。；]{0,16})"
)
GLUE = re.compile(
    r"[今去本上]年[\d一二三四五六七八九十]{1,2}月|[\d一二三四五六七八九十]{1,2}月[份初中底]?|以前|曾经|"
    r"现在|已经|最近|后来|如今|目前|以后|之后|就|也|都|把|的|了|我|又|再|去年|今年|上周|上个月|"
    r"因为|所以|只好|"
    r"终于|打算|计划|准备|这个|那个|个|一[辆只条台家份个]|念头|想法|[（(][^）)]*[）)]"
)
# 不再只是…, 不是: nothing ends.
UNABATED = re.compile(
    r"(?:不会|没有?|不想|绝不|不打算|舍不得|不能)(?:放弃|取消|停|卖|退|戒|离开)|不得不"
)
POINTING = re.compile(r"^(?:它|这|那|他|她|这个|那个|这事|此事)?$")


def find_chinese_endings(clause: str, *, speaker: str, topic: str) -> Iterator[str]:
    """Yield the words of what is over, without the speaker's name.

    What a clause does not name ("已经不学了") is the topic, the clause before it.
    """
    bare = clause.replace(speaker, "", 1) if speaker else clause
    if UNABATED.search(bare):
        return
    after = AFTER.search(bare)
    before = BEFORE.match(bare)
    words = ""
    if after is not None:
        words = _content(after["x"])
        if not words or (len(words) < 2 and after[0][0] in "不没早再"):
            words = f"{_content(bare[: after.start()])} {words}".strip() or words
    elif before is not None:
        words = _content(before["x"])
    else:
        return
    if POINTING.match(words):
        named = topic.replace(speaker, "", 1) if speaker else topic
        words = f"{words} {_content(named)}"
    yield words


def _content(text: str) -> str:
    return " ".join(GLUE.sub(" ", text).split())
