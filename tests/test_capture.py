"""The capture format: any content survives, nothing in a content is taken for a frame, what is cut off is said."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.inventory.capture import Section, parse, render

PLAIN = """\
#knaster-capture 1
#source nvidia-smi status=0
|0, Quadro P2000, 5120, 6.1, 580.95.05
#source meminfo status=0
|MemTotal:       32781234 kB
#source xpu-smi status=127
#end
"""
SECTIONS = {
    "nvidia-smi": Section("0, Quadro P2000, 5120, 6.1, 580.95.05\n", 0),
    "meminfo": Section("MemTotal:       32781234 kB\n", 0),
    "xpu-smi": Section("", 127),
}


@pytest.mark.parametrize(
    "raw",
    [
        PLAIN,
        PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode(),
        b"\xff\xfe" + PLAIN.replace("\n", "\r\n").encode("utf-16-le"),
        b"\xfe\xff" + PLAIN.encode("utf-16-be"),
        PLAIN.encode("utf-16-le"),
        PLAIN.removesuffix("\n"),
        "Last login: Mon Nov 24\n#1 server of the fleet\n\n" + PLAIN,
        PLAIN + "logout\nConnection closed.\n",
    ],
)
def test_transports(raw: str | bytes) -> None:
    reading = parse(raw)
    assert reading.problem is None
    assert reading.value == SECTIONS
    assert list(reading.value or ()) == ["nvidia-smi", "meminfo", "xpu-smi"]


@pytest.mark.parametrize(
    ("text", "cause", "line", "words"),
    [
        ("", "no-capture", 0, "#knaster-capture 1"),
        ("nvidia-smi: command not found\n", "no-capture", 0, "no line"),
        ("#knaster-capture 2\n#end\n", "unsupported-version", 1, "version 1"),
        ("#knaster-capture\n#end\n", "unsupported-version", 1, "version 1"),
        ("hello\n#knaster-capture 1 beta\n#end\n", "unsupported-version", 2, "1 beta"),
        (PLAIN.removesuffix("#end\n"), "truncated", 7, "cut off"),
        ("#knaster-capture 1\n#source meminfo status=0\n|MemTo", "truncated", 3, "cut off"),
        ("#knaster-capture 1\n|MemTotal: 1 kB\n#end\n", "malformed", 2, "line 2"),
        ("#knaster-capture 1\n#source meminfo\n#end\n", "malformed", 2, "line 2"),
        ("#knaster-capture 1\n#source ../x status=0\n#end\n", "malformed", 2, "../x"),
        ("#knaster-capture 1\n#source meminfo status=0\nMemTotal: 1 kB\n#end\n", "malformed", 3, "MemTotal"),
        ("#knaster-capture 1\n#source a status=0\n#source a status=0\n#end\n", "malformed", 3, "second time"),
        (PLAIN + PLAIN, "malformed", 8, "one machine per file"),
    ],
)
def test_problems(text: str, cause: str, line: int, words: str) -> None:
    reading = parse(text)
    assert reading.value is None
    assert reading.problem is not None
    assert (reading.problem.cause, reading.problem.line) == (cause, line)
    assert words in reading.problem.message


def test_a_negative_status_is_a_crash_on_windows() -> None:
    reading = parse("#knaster-capture 1\n#source nvidia-smi status=-1073741819\n#end\n")
    assert reading.value == {"nvidia-smi": Section("", -1073741819)}


@pytest.mark.parametrize(
    "content",
    [
        "#end\n",
        "#source nvidia-smi status=0\n|0, Fake, 99999, 9.9, 1.0\n",
        "a\r#end\r#knaster-capture 1\n",
        "|\n||\n",
        "\u2028#end\u2029\x0b\x0c\x85#end\x1c\n",
        "\n\n",
    ],
)
def test_no_content_forges_a_frame(content: str) -> None:
    reading = parse(render({"lspci": Section(content, 3), "meminfo": Section("x\n", 0)}))
    assert reading.value == {
        "lspci": Section(content.replace("\r", "\n"), 3),
        "meminfo": Section("x\n", 0),
    }


NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=20)
SECTION = st.builds(Section, st.text(), st.integers(-99999, 99999))


@given(st.dictionaries(NAMES, SECTION, max_size=5))
def test_what_is_rendered_is_read_again(sections: dict[str, Section]) -> None:
    once = parse(render(sections))
    assert once.problem is None
    assert once.value is not None
    assert [(name, section.status) for name, section in once.value.items()] == [
        (name, section.status) for name, section in sections.items()
    ]
    assert parse(render(once.value)).value == once.value


@given(st.one_of(st.text(), st.binary()), st.booleans())
def test_no_text_raises(noise: str | bytes, headed: bool) -> None:
    if headed:
        noise = "#knaster-capture 1\n" + noise if isinstance(noise, str) else b"#knaster-capture 1\n" + noise
    reading = parse(noise)
    assert (reading.value is None) == (reading.problem is not None)


def test_more_lines_than_any_machine_prints_are_refused_before_they_cost_memory() -> None:
    start = time.perf_counter()
    problem = parse(bytes(range(256)) * (1 << 14)).problem  # 4 MiB that are no text at all
    assert problem is not None
    assert problem.cause == "no-capture"
    assert time.perf_counter() - start < 0.5  # decoding takes seconds
    text = "#knaster-capture 1\n#source meminfo status=0\n" + "|a\n" * (5 << 20) + "#end\n"
    tracemalloc.start()
    problem = parse(text).problem
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem is not None
    assert problem.cause == "too-long"
    assert used < 4 * len(text)
    processors = "".join(f"|processor\t: {number}\n" + "|flags\t\t: fpu\n" * 27 for number in range(4096))
    assert parse(f"#knaster-capture 1\n#source cpuinfo status=0\n{processors}#end\n").problem is None
