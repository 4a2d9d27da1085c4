"""nvidia-smi -L and the query for identities: the right cards, and no text that raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.inventory.parsers.nvidia_smi import SmiIdentity, SmiListed, identity, listing
from knaster.inventory.reading import Reading
from tests.captured import assert_sound, mutated

UUID = "GPU-5a1e7a52-0b7c-4a3e-9c11-0123456789ab"
OTHER = "GPU-5a1e7a52-0b7c-4a3e-9c11-0123456789ac"

LOST = "Unable to determine the device handle for gpu 0000:41:00.0: GPU is lost.  Reboot the system to recover this GPU"
HEALTHY = [f"GPU 0: NVIDIA GeForce RTX 3090 (UUID: {UUID})", f"GPU 2: NVIDIA A100 (40 GB) (UUID: {OTHER})"]
SLICES = "".join(f"  MIG 3g.20gb     Device  {number}: (UUID: MIG-{UUID[4:]})\n" for number in range(2))


def test_listing_keeps_the_healthy_cards_beside_a_lost_one() -> None:
    text = "\n".join([HEALTHY[0], LOST, HEALTHY[1], ""])
    reading = listing(text, 15)
    assert reading.value == (SmiListed(0, "NVIDIA GeForce RTX 3090", UUID), SmiListed(2, "NVIDIA A100 (40 GB)", OTHER))
    assert any("0000:41:00.0 does not answer" in warning for warning in reading.warnings)
    assert listing(LOST, 15).problem


def test_listing_counts_mig_devices_and_lists_the_card() -> None:
    text = f"GPU 0: NVIDIA A100-SXM4-40GB (UUID: {UUID})\n{SLICES}"
    reading = listing(text)
    assert reading.value == (SmiListed(0, "NVIDIA A100-SXM4-40GB", UUID),)
    assert reading.warnings == ("gpus[0]: split into 2 MIG devices, listed as a whole",)


@pytest.mark.parametrize("text", ["GPU 0: NVIDIA A100 (UUID: GPU-5a1e", f"GPU 0: NVIDIA A100 (UUID: {UUID[:-1]})", "x"])
def test_listing_that_was_cut_off(text: str) -> None:
    problem = listing(text).problem
    assert problem
    assert (problem.cause, problem.line) == ("malformed", 1)


def test_identity_writes_addresses_as_sysfs_does() -> None:
    text = f"0, {UUID}, 00000000:01:00.0\r\n1, {OTHER}, 0000000F:C1:00.0\r\n2, [N/A], 00010000:01:00.0\r\n"
    reading = identity(text)
    assert reading.value == (
        SmiIdentity(0, UUID, "0000:01:00.0"),
        SmiIdentity(1, OTHER, "000f:c1:00.0"),
        SmiIdentity(2, None, "10000:01:00.0"),
    )
    assert reading.warnings == ("gpus[2].uuid: nvidia-smi printed [N/A]",)
    assert identity("0, GPU-1, 00000000:01:00.0").problem
    assert identity(f"0, {UUID}").problem


@pytest.mark.parametrize("status", [6, 0])
def test_no_devices_is_an_empty_value(status: int) -> None:
    assert listing("No devices were found\n", status) == Reading(())
    assert identity("No devices were found\n", status) == Reading(())


@pytest.mark.parametrize(
    ("text", "status"), [("", 0), ("", 9), (f"{LOST}\n", 15), ("nvidia-smi: command not found", 127)]
)
def test_no_card_and_no_word_that_there_is_none(text: str, status: int) -> None:
    assert listing(text, status).problem
    assert identity(text, status).problem


TEXTS = ["\n".join([HEALTHY[0], LOST, HEALTHY[1]]), f"{HEALTHY[0]}\n{SLICES}", f"0, {UUID}, 00000000:01:00.0\n"]


@given(st.text() | mutated(TEXTS), st.sampled_from([0, 0, 6, 9, 14, 15, 127, 255, -9]))
def test_no_text_raises(text: str, status: int) -> None:
    assert_sound(listing(text, status))
    assert_sound(identity(text, status))
