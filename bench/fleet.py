"""A generated fleet of any size: node profiles as `collect` writes them, 4 cards each, 200 roles at every size.

Texts are plain YAML with the scalars that people and tools write, so that the comparison with a plain loader is fair.
"""

from __future__ import annotations

from knaster.files import Files

ROLES = 200
CARDS = (
    ("Quadro P2000", "10de:1c30", 5, 5120, "6.1"),
    ("Tesla T4", "10de:1eb8", 16, 15360, "7.5"),
    ("NVIDIA RTX A5000", "10de:2231", 24, 24564, "8.6"),
    ("NVIDIA L40S", "10de:26b9", 48, 46068, "8.9"),
)
ENGINES = ("llamacpp", "vllm", "pytorch")


def fleet(nodes: int) -> Files:
    """All input files of a valid fleet of `nodes` nodes in 10.0.0.0/8."""
    files = {f"inventory/n{number:05}.yaml": _node(number) for number in range(1, nodes + 1)}
    files["catalog/models.yaml"] = _models()
    files["catalog/roles.yaml"] = _roles()
    files["catalog/platform.yaml"] = _PLATFORM
    return files


def _node(number: int) -> str:
    platform = "proxmox" if number % 2 else "bare"
    high, low = divmod(number, 250)
    return "".join(
        [
            "# yaml-language-server: $schema=../schemas/node.schema.json\n",
            f"name: n{number:05}\n",
            "cpu: {model: AMD EPYC 7302P 16-Core Processor, cores: 16, threads: 32}\n",
            "memory_gb: 128\n",
            "disks:\n",
            "  - {name: nvme0n1, size_gb: 1920, rotational: false}\n",
            "  - {name: sda, size_gb: 8000, rotational: true}\n",
            f"platform: {platform}\n",
            f"address: 10.1.{high}.{low + 1}\n",
            "source: collected\n",
            "gpus:\n",
            *(_gpu(number, index) for index in range(4)),
        ]
    )


def _gpu(number: int, index: int) -> str:
    name, pci, gb, mib, cc = CARDS[(number + index) % len(CARDS)]
    return f"""\
  - index: {index}
    name: {name}
    memory_gb: {gb}
    memory_mib: {mib}
    compute_cap: {cc}
    driver: 580.95.05
    vendor: nvidia
    uuid: GPU-{number:08x}-0000-4000-8000-{index:012x}
    pci:
      address: "0000:{index + 1:02x}:00.0"
      id: "{pci}"
      subsystem_id: "10de:11b3"
      iommu_group: {index + 10}
"""


def _models() -> str:
    engines = "".join(
        f"  {name}: {{min_cc: {cc}, port: 8000}}\n" for name, cc in zip(ENGINES, (5, 7, 7.5), strict=True)
    )
    models = "".join(
        f"  model-{size}-{engine}: {{kind: llm, vram_gb: {size}.5, min_cc: 5, engines: [{engine}]}}\n"
        for size in range(1, 21)
        for engine in ENGINES
    )
    return f"engines:\n{engines}  piper: {{min_cc: 0, gpu: none, port: 5000}}\nmodels:\n{models}"


def _roles() -> str:
    return "roles:\n" + "".join(_role(number) for number in range(ROLES))


def _role(number: int) -> str:
    head = f"  role-{number:03}:\n    priority: {number}\n    kinds: [llm]\n"
    slots = f"    slots: [{{name: slot-{number:03}, port: {9000 + number}}}]\n"
    if number % 10 == 8:
        return f"{head}{slots}    needs: {{engine: piper, gpu: false, min_memory_gb: 1}}\n"
    needs = f"    needs: {{engine: {ENGINES[number % 3]}, min_vram_gb: {(number % 5) * 4}, min_memory_gb: 1}}\n"
    if number % 10 == 9:
        return f"{head}{slots}{needs}    share_with: role-{number - 3:03}\n"
    prefer = "largest" if number % 2 else "smallest_fitting"
    return f"{head}{slots}{needs}    prefer: {prefer}\n"


_PLATFORM = """\
network:
  cidr: "10.0.0.0/8"
  gateway: "10.0.0.1"
  bridge: vmbr0
  guest_range: {first: "10.128.0.1", last: "10.191.255.254"}
  dns: ["10.0.0.1"]
host_reserve_gb: 4
vram_reserve_gb: {linux: 0.5, windows: 1.5}
gpu_vm:
  name: "gpu-{node}"
  vmid_base: 200000
  address_base: "10.128.0.0"
  memory_gb: 96
  cores: 12
  disk_gb: 200
  storage: local-lvm
  image: {url: "https://images.example.org/noble-20261101.img", checksum: "%s", checksum_algorithm: sha256}
  driver_generation: legacy
drivers:
  legacy: {branch: R580, version: "580.95.05", min_cc: 5.0}
storage:
  local-lvm: {type: lvmthin}
""" % ("0" * 64)
