"""A small, valid repository as texts: one Proxmox node with a P2000 and a disabled M4000, and a Windows workstation."""

from __future__ import annotations

from pathlib import Path

PVE44 = """\
# yaml-language-server: $schema=../schemas/node.schema.json
name: pve44
platform: proxmox
cpu: {model: "Intel Xeon E5-1650 v3", cores: 6, threads: 12}
memory_gb: 32
disks:
  - {name: sda, size_gb: 512, rotational: false}
gpus:
  - index: 0
    name: "Quadro M4000"
    memory_gb: 8
    compute_cap: 5.2
    driver: "580.95.05"
    pci: {address: "0000:01:00.0", id: "10de:13f1", subsystem_id: "10de:1153", iommu_group: 15}
    disabled: true
    reason: "no benchmark yet"
  - index: 1
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    driver: "580.95.05"
    pci: {address: "0000:02:00.0", id: "10de:1c30", subsystem_id: "10de:11b3", iommu_group: 21}
"""

PC5 = """\
# yaml-language-server: $schema=../schemas/node.schema.json
name: GODE-PC-05
platform: workstation
os: windows
cpu_roles: false
address: "192.168.100.105"
cpu: {model: "Intel Core i7-13700", cores: 16, threads: 24}
memory_gb: 64
disks: []
gpus:
  - {index: 0, name: "NVIDIA RTX 4000 Ada Generation", memory_gb: 20, compute_cap: 8.9, driver: "580.88"}
"""

MODELS = """\
# yaml-language-server: $schema=../schemas/models.schema.json
engines:
  llamacpp: {min_cc: 5.0, os: [linux, windows], port: 8080}
  piper: {gpu: none, port: 5000}
models:
  bge-m3: {kind: embedding, vram_gb: 1.2, engines: [llamacpp]}
  qwen3-14b: {kind: llm, vram_gb: 10.5, engines: [llamacpp]}
  piper-de: {kind: tts, vram_gb: 0.2, min_memory_gb: 1, engines: [piper]}
"""

ROLES = """\
# yaml-language-server: $schema=../schemas/roles.schema.json
roles:
  embedding:
    priority: 10
    needs: {engine: llamacpp, min_vram_gb: 2}
    kinds: [embedding]
    slots: [embed]
  general:
    needs: {engine: llamacpp, min_vram_gb: 16}
    kinds: [llm]
    slots:
      - {name: tier1, fallback: [tier0]}
  speech:
    needs: {engine: piper, gpu: false, min_memory_gb: 1}
    kinds: [tts]
    guest: infra
    slots: [tts-de]
"""

PLATFORM = """\
# yaml-language-server: $schema=../schemas/platform.schema.json
network:
  cidr: "192.168.100.0/24"
  gateway: "192.168.100.1"
  bridge: vmbr0
  guest_range: {first: "192.168.100.220", last: "192.168.100.239"}
  dns: ["192.168.100.1"]
host_reserve_gb: 4
gpu_vm:
  name: "gpu-{node}"
  vmid_base: 200
  address_base: "192.168.100.180"
  memory_gb: 12
  cores: 6
  disk_gb: 120
  storage: local-lvm
  image:
    url: "https://cloud-images.ubuntu.com/noble/20261101/noble-server-cloudimg-amd64.img"
    checksum: "0f0e0d0c0b0a09080706050403020100ffeeddccbbaa99887766554433221100"
  driver_generation: legacy
drivers:
  legacy: {branch: R580, version: "580.95.05", min_cc: 5.0}
guests:
  infra:
    node: pve44
    vmid: 101
    address: "192.168.100.221"
    memory_gb: 8
    cores: 4
    disk_gb: 60
    storage: local-lvm
    template: "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst"
    services: [piper]
storage:
  local-lvm: {type: lvmthin}
workers:
  GODE-PC-05: {program: LocalLLMWorker.ps1}
external:
  tier0: {url: "https://tier0.example.org/v1", credential: {env: TIER0_API_KEY}}
access:
  ssh_keys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleExam ops"]
"""


def files(**changes: str) -> dict[str, str]:
    """The repository as `Files`; ``files(roles="…")`` replaces one file by its short name."""
    short = {"pve44": PVE44, "pc5": PC5, "models": MODELS, "roles": ROLES, "platform": PLATFORM} | changes
    return {
        "catalog/models.yaml": short["models"],
        "catalog/platform.yaml": short["platform"],
        "catalog/roles.yaml": short["roles"],
        "inventory/GODE-PC-05.yaml": short["pc5"],
        "inventory/pve44.yaml": short["pve44"],
    }


def lay(root: Path, texts: dict[str, str] | None = None) -> Path:
    """Write a repository below `root` and return it."""
    for path, text in (files() if texts is None else texts).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode("utf-8", "surrogateescape"))
    return root
