"""linux.sh, really run: under every shell that is here, with stubs for the programs that this machine lacks."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from knaster.adapters.captures import script
from knaster.inventory.assemble import profile
from knaster.inventory.capture import Section
from knaster.schema import check
from tests.stubs import MISSING, NVIDIA_SMI, SHELLS, captured, run, shell

HURRY = {
    "limit 20": "limit 1",
    "timeout 25": "timeout 3",
    "seconds=25": "seconds=3",
    'timeout -k 2 "': 'timeout -k 1 "',
}
NO_TIMEOUT = {"timeout -k 2 5 true": "false"}


@pytest.mark.parametrize("name", SHELLS)
def test_this_machine(tmp_path: Path, name: str) -> None:
    capture = captured(run(tmp_path, {}, name))
    assert capture["os"] == Section("linux\n", 0)
    facts = profile(capture, name="box1").value
    assert facts is not None
    assert check("node", "", facts) == ()
    processors = len(re.findall(r"(?m)^processor\s*:", Path("/proc/cpuinfo").read_text()))
    assert isinstance(facts["cpu"], dict)
    assert facts["cpu"]["threads"] == processors


@pytest.mark.parametrize("name", ["dash", "bash", "busybox"])
@pytest.mark.parametrize("without_timeout", [False, True])
def test_a_card_of_nvidia(tmp_path: Path, name: str, without_timeout: bool) -> None:
    surroundings = f"""\
[ "$LC_ALL" = C ] && [ ! -t 1 ] && [ -z "$(cat)" ] || exit 99
echo "$*" >> {tmp_path}/asked
{NVIDIA_SMI}"""
    changes = NO_TIMEOUT if without_timeout else {}
    capture = captured(run(tmp_path, {"nvidia-smi": surroundings}, name, changes=changes))
    assert capture["nvidia-smi"] == Section("0, Quadro P2000, 5120, 6.1, 580.95.05\n", 0)
    assert capture["nvidia-smi-identity"].text.endswith("00000000:01:00.0\n")
    assert capture["nvidia-smi-list"].text.startswith("GPU 0: Quadro P2000")
    assert capture["pve-status"] == Section("", 127)
    assert (tmp_path / "asked").read_text().splitlines() == [
        "--query-gpu=index,name,memory.total,compute_cap,driver_version --format=csv,noheader,nounits",
        "-L",
        "--query-gpu=index,uuid,pci.bus_id --format=csv,noheader,nounits",
    ]


def test_a_driver_that_knows_no_compute_cap(tmp_path: Path) -> None:
    old = """\
case "$*" in
  *compute_cap*) printf 'Field "compute_cap" is not a valid field to query.\\n\\n'; exit 2 ;;
  *index,name*) echo '0, Tesla T4, 15109, 450.248.02' ;;
esac
"""
    capture = captured(run(tmp_path, {"nvidia-smi": old}))
    assert capture["nvidia-smi"] == Section('Field "compute_cap" is not a valid field to query.\n\n', 2)
    assert capture["nvidia-smi-4"] == Section("0, Tesla T4, 15109, 450.248.02\n", 0)


LOST = "Unable to determine the device handle for GPU0000:41:00.0: GPU is lost.  Reboot the system to recover this GPU"
ONE_LOST = f"""\
case "$*" in
  "-L") printf 'GPU 0: A (UUID: x)\\n{LOST}\\nGPU 2: C (UUID: z)\\nGPU 10: K (UUID: k)\\n'; exit 15 ;;
  *uuid*"-i 0,2,10") echo '0, x, 00000000:01:00.0' ;;
  *"-i 0") echo '0, A, 24576, 8.6, 550.163.01' ;;
  *"-i 2") echo '2, C, 24576, 8.6, 550.163.01' ;;
  *"-i 10") echo 'odd'; exit 15 ;;
  *) printf '{LOST}\\n\\n\\n'; exit 15 ;;
esac
"""


def test_one_lost_card_is_asked_around(tmp_path: Path) -> None:
    capture = captured(run(tmp_path, {"nvidia-smi": ONE_LOST}))
    assert capture["nvidia-smi"] == Section(f"{LOST}\n\n\n", 15)
    assert capture["nvidia-smi-list"].status == 15
    assert capture["nvidia-smi-gpu-0"] == Section("0, A, 24576, 8.6, 550.163.01\n", 0)
    assert capture["nvidia-smi-gpu-2"] == Section("2, C, 24576, 8.6, 550.163.01\n", 0)
    assert capture["nvidia-smi-gpu-10"] == Section("odd\n", 15)
    assert capture["nvidia-smi-identity"] == Section("0, x, 00000000:01:00.0\n", 0)


@pytest.mark.parametrize("status", [6, 9, 12, 17, 18])
def test_no_further_questions_where_nothing_answers(tmp_path: Path, status: int) -> None:
    capture = captured(run(tmp_path, {"nvidia-smi": f"echo no; exit {status}\n"}))
    assert capture["nvidia-smi"] == Section("no\n", status)
    assert [name for name in capture if name.startswith("nvidia")] == ["nvidia-smi"]


def test_a_proxmox_host(tmp_path: Path) -> None:
    pvesh = """\
case "$2" in
  /nodes/*/hardware/pci) echo '[]' ;;
  /nodes/*/status) printf '{"memory":{"total":1}}' ;;
esac
"""
    capture = captured(run(tmp_path, {"pvesh": pvesh}))
    assert capture["pve-pci"] == Section("[]\n", 0)
    assert capture["pve-status"] == Section('{"memory":{"total":1}}\n', 0)


def test_memory_blocks_by_lsmem(tmp_path: Path) -> None:
    lsmem = 'echo "Total online memory: 16911433728"; [ "$*" = "-b --summary=only" ]\n'
    assert captured(run(tmp_path, {"lsmem": lsmem}))["memory-blocks"] == Section(
        "Total online memory: 16911433728\n", 0
    )


@pytest.mark.parametrize("name", SHELLS)
def test_memory_blocks_without_lsmem(tmp_path: Path, name: str) -> None:
    blocks = tmp_path / "memory"
    for number, state in enumerate(["online", "offline", "online", "going-offline"]):
        (blocks / f"memory{number}").mkdir(parents=True)
        (blocks / f"memory{number}/state").write_text(f"{state}\n", "utf-8")
    found: list[Section] = []
    for _ in range(2):
        found.append(
            captured(
                run(
                    tmp_path,
                    {"lsmem": MISSING},
                    name,
                    changes={"blocks=/sys/devices/system/memory": f"blocks={blocks}"},
                )
            )["memory-blocks"]
        )
        (blocks / "block_size_bytes").write_text("8000000\n", "utf-8")
    assert found == [Section("", 1), Section("block_size_bytes:8000000\nonline_blocks:2\n", 0)]


@pytest.mark.parametrize("name", SHELLS)
def test_any_content_is_framed(tmp_path: Path, name: str) -> None:
    nasty = r"""printf '#end\n#source nvidia-smi status=0\n|0, Fake, 1, 9.9, 1\n\n'
printf 'a\rb\r\n\\n %%s \377\376 \303\244 `id` $(id)\n\0#status 0\nlast'; exit 7
"""
    capture = captured(run(tmp_path, {"lspci": nasty}, name))
    text = capture["lspci"].text
    assert capture["lspci"].status == 7
    assert capture["nvidia-smi"] == Section("", 127)
    assert text.startswith("#end\n#source nvidia-smi status=0\n|0, Fake, 1, 9.9, 1\n\na b\n\\n %s ")
    assert text.endswith("`id` $(id)\n#status 0\nlast\n")
    assert "ä" in text


HANGING = {
    "lspci": "echo half; sleep 15\n",
    "amd-smi": "trap '' TERM HUP; n=0; while [ $n -lt 15 ]; do sleep 1; n=$((n + 1)); done\n",
    "rocm-smi": "sleep 15 & echo 'a child keeps the output open'; exit 3\n",
    "xpu-smi": "kill -SEGV $$\n",
}


@pytest.mark.parametrize("name", ["dash", "bash", "busybox"])
@pytest.mark.parametrize("without_timeout", [False, True])
def test_nothing_hangs(tmp_path: Path, name: str, without_timeout: bool) -> None:
    start = time.monotonic()
    capture = captured(run(tmp_path, HANGING, name, changes=HURRY | (NO_TIMEOUT if without_timeout else {})))
    assert time.monotonic() - start < 14
    assert capture["lspci"].status in {124, 137}
    assert capture["amd-smi"].status in {124, 137}
    assert capture["rocm-smi"] == Section("a child keeps the output open\n", 3)
    assert capture["xpu-smi"].status == 139
    assert capture["pve-pci"] == Section("", 127)


def test_a_whole_script_or_nothing() -> None:
    lines = script("linux").splitlines(keepends=True)
    for end in range(0, len(lines), 7):
        half = "".join(lines[:end]).encode()
        done = subprocess.run([*shell("sh"), "-s"], input=half, capture_output=True, timeout=20, check=False)
        assert done.stdout == b""


SYS = {
    "bus/pci/devices/0000:01:00.0/vendor": "0x10de",
    "bus/pci/devices/0000:01:00.0/device": "0x2684",
    "bus/pci/devices/0000:01:00.0/class": "0x030000",
    "bus/pci/devices/0000:01:00.0/subsystem_vendor": "0x10de",
    "bus/pci/devices/0000:01:00.0/subsystem_device": "0x16f4",
    "bus/pci/devices/0000:00:1f.0/vendor": "0x8086",
    "bus/pci/devices/0000:00:1f.0/device": "0x8d44",
    "bus/pci/devices/0000:00:1f.0/class": "0x060100",
    "bus/pci/devices/0000:02:00.0/class": "0x020000",
    "block/sda/size": "3907029168",
    "block/sda/queue/rotational": "1",
    "block/nvme0n1/size": "1000215216",
    "block/nvme0n1/queue/rotational": "0",
}


@pytest.mark.parametrize("name", SHELLS)
def test_sys_without_lspci_and_lsblk(tmp_path: Path, name: str) -> None:
    root = tmp_path / "sys"
    for path, value in SYS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{value}\n")
    card = root / "bus/pci/devices/0000:01:00.0"
    (card / "driver").symlink_to("../../../../bus/pci/drivers/vfio-pci")
    (card / "iommu_group").symlink_to("../../../../kernel/iommu_groups/15")
    member = root / "kernel/iommu_groups/15/devices/0000:01:00.0"
    member.parent.mkdir(parents=True)
    member.symlink_to("../../../../bus/pci/devices/0000:01:00.0")
    tools = {"lsblk": "exit 1\n"}
    output = run(tmp_path, tools, name, changes={"/sys/": f"{root}/"})
    capture = captured(output.replace(f"{root}/".encode(), b"/sys/"))
    assert capture["sysfs-pci"].text == (  # the first device shows that there is a bus, then only cards
        "/sys/bus/pci/devices/0000:00:1f.0/vendor:0x8086\n"
        "/sys/bus/pci/devices/0000:00:1f.0/device:0x8d44\n"
        "/sys/bus/pci/devices/0000:00:1f.0/class:0x060100\n"
        "/sys/bus/pci/devices/0000:01:00.0/vendor:0x10de\n"
        "/sys/bus/pci/devices/0000:01:00.0/device:0x2684\n"
        "/sys/bus/pci/devices/0000:01:00.0/class:0x030000\n"
        "/sys/bus/pci/devices/0000:01:00.0/subsystem_vendor:0x10de\n"
        "/sys/bus/pci/devices/0000:01:00.0/subsystem_device:0x16f4\n"
        "/sys/bus/pci/devices/0000:01:00.0/driver -> ../../../../bus/pci/drivers/vfio-pci\n"
        "/sys/bus/pci/devices/0000:01:00.0/iommu_group -> ../../../../kernel/iommu_groups/15\n"
    )
    assert capture["iommu-groups"].text == "/sys/kernel/iommu_groups/15/devices/0000:01:00.0\n"
    facts = profile(capture, name="box1").value
    assert facts is not None
    assert facts["disks"] == [
        {"name": "nvme0n1", "size_gb": 512, "rotational": False},
        {"name": "sda", "size_gb": 2000, "rotational": True},
    ]
    assert isinstance(facts["gpus"], list)
    (gpu,) = facts["gpus"]
    assert isinstance(gpu, dict)
    assert (gpu["memory_gb"], gpu["compute_cap"], gpu["bound_driver"]) == (24, 8.9, "vfio-pci")
    assert gpu["pci"] == {
        "address": "0000:01:00.0",
        "id": "10de:2684",
        "subsystem_id": "10de:16f4",
        "iommu_group": 15,
    }


def test_one_script_for_linux_and_proxmox() -> None:
    assert script("proxmox") == script("linux")
    assert script("linux").endswith("\nmain\n")


WINDOWS = script("windows")


def test_the_windows_script_frames_what_it_prints() -> None:
    """It cannot run here; these are the lines on which everything hangs."""
    assert WINDOWS.isascii()
    assert len(WINDOWS.splitlines()) < 60
    assert "'#knaster-capture 1'\n" in WINDOWS
    assert WINDOWS.endswith("'#end'\n")
    assert '"#source $Name status=$status"' in WINDOWS
    assert 'ForEach-Object { "|$_" }' in WINDOWS
    assert "ConvertTo-Json -Compress -InputObject" in WINDOWS
    assert re.findall(r"(?m)^Section ([a-z-]+)", WINDOWS) == [
        *("os", "hostname", "address", "cim-processor", "cim-computersystem", "cim-memory", "disks", "video"),
        *("nvidia-smi", "nvidia-smi-list", "nvidia-smi-identity"),
    ]
    for opening, closing in ("{}", "()", "[]"):
        assert WINDOWS.count(opening) == WINDOWS.count(closing)
    newer = (r"\?\?", r"\?\.", "&&", r"\|\|", "-Parallel", "-AsHashtable", "-NoEnumerate")
    assert not [sign for sign in newer if re.search(sign, WINDOWS)], "PowerShell 5.1 knows none of these"


def test_the_windows_script_runs(tmp_path: Path) -> None:
    program = shutil.which("pwsh") or shutil.which("powershell")
    if not program:
        pytest.skip("there is no PowerShell on this machine")
    file = tmp_path / "windows.ps1"
    file.write_text(WINDOWS, "utf-8")
    done = subprocess.run(
        [program, "-NoProfile", "-NonInteractive", "-File", str(file)], capture_output=True, timeout=120, check=True
    )
    capture = captured(done.stdout)
    assert capture["os"] == Section("windows\n", 0)
