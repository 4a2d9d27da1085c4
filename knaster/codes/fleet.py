"""Codes of the fleet: names, cards, guests, network, hardware, and what is only assumed."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.codes.explanation import Explanation

CODES: Mapping[str, Explanation] = {
    "duplicate-name": Explanation(
        "Two things have one name.",
        "Nodes and guests are hosts in DNS and Ansible, which ignore case; clients call slots and endpoints by name; a "
        "resource mapping names one card.",
        "Rename one of the two; both places are named.",
    ),
    "duplicate-card": Explanation(
        "One card appears twice.",
        "A uuid belongs to one card in the world, a PCI address and an index to one card of a machine; roles would be "
        "placed on a card that is not there.",
        "Remove the copy, or collect the node again.",
    ),
    "duplicate-vmid": Explanation(
        "Two guests have one VM id.",
        "Proxmox knows VMs and containers of the whole cluster by this number.",
        "Change one. A GPU VM has vmid_base plus its node's number, or an explicit vmid under gpu_vm.overrides.",
    ),
    "duplicate-address": Explanation(
        "Two machines have one IP address.",
        "Both would answer, and which one does changes from minute to minute.",
        "Change one. A GPU VM has address_base plus its node's number, or an explicit address under gpu_vm.overrides.",
    ),
    "bad-name": Explanation(
        "Proxmox, DNS or Ansible refuse this name.",
        "Host names are letters, digits and - inside, at most 63 characters; a number, a pattern such as [1:3] or a "
        "word like all means something else to Ansible. Refused late, such a name stops an apply half way.",
        "Rename it as the hint shows.",
    ),
    "unknown-node": Explanation(
        "A node is named that has no file in inventory/.",
        "A guest, pin, worker or replication job for a machine that does not exist does nothing.",
        "Correct the name, or add inventory/<node>.yaml.",
    ),
    "unknown-card": Explanation(
        "A pin names a card that its node does not have.",
        "The role could never be placed.",
        "Pin one of the cards listed, or the node alone.",
    ),
    "unknown-guest": Explanation(
        "A role names a guest that the platform does not have.",
        "The role's CPU services run inside that container; without it they run nowhere.",
        "Correct the name, or declare the container under guests in catalog/platform.yaml.",
    ),
    "unknown-storage": Explanation(
        "A disk lies on a storage that the platform does not declare.",
        "Proxmox would refuse to create the guest.",
        "Correct the name, or declare the storage under storage in catalog/platform.yaml.",
    ),
    "unknown-driver": Explanation(
        "The GPU VMs ask for a driver generation that is not declared.",
        "Branch and exact version of the driver come from there.",
        "Correct driver_generation, or add the generation under drivers in catalog/platform.yaml.",
    ),
    "guest-conflict": Explanation(
        "A guest, its node and its roles contradict each other.",
        "Containers run on Proxmox nodes; ZFS replication needs a zfspool storage and another Proxmox node, once per "
        "target; a role's guest is for its time on a CPU and decides the node.",
        "Change the one that the message names.",
    ),
    "guest-identity": Explanation(
        "A GPU VM has no VM id or no address, or one that Proxmox does not take.",
        "They follow from the digits at the end of the node's name, so that adding a node renumbers no other.",
        "Give the node's VM an explicit vmid and address under gpu_vm.overrides in catalog/platform.yaml.",
    ),
    "retire-standing": Explanation(
        "A guest is under retire and still declared.",
        "It is the only permission to destroy a guest. While a VM stands there, nothing stops a mistake in its values "
        "from destroying it and making it anew; a container is made anew by no plan.",
        "Take the guest out of retire, or out of the fleet.",
    ),
    "no-ssh-keys": Explanation(
        "Guests are made by OpenTofu, and access.ssh_keys is empty.",
        "Keys are given when a VM or container is made, and later ones are not given to it: nobody could log in.",
        "Write the public keys of people and Ansible under access.ssh_keys in catalog/platform.yaml, and apply then.",
    ),
    "memory-budget": Explanation(
        "The guests of a node need more memory than it has.",
        "Passthrough pins all memory of a VM when it starts; the last guest to start would fail, or the host would.",
        "Give a guest less memory, move a container, or correct memory_gb or host_reserve_gb.",
    ),
    "address-range": Explanation(
        "An address is none, or lies outside the network or the guest range.",
        "A guest there would not be reached, or would take an address that the router gives to others.",
        "Choose an address inside the range, or correct the network.",
    ),
    "literal-secret": Explanation(
        "A text looks like a password, key or token.",
        "What is committed stays in the history for everybody who can read the repository, and in logs.",
        "Name the environment variable that holds it: credential: {env: NAME} for an endpoint, ${NAME} in args of a "
        "model. Replace the secret itself: it has leaked.",
    ),
    "vram-understated": Explanation(
        "A model needs more VRAM than its vram_gb says.",
        "Weights, KV cache at its context and buffers were summed from the architecture that is on record. A model "
        "that is taken for smaller than it is gets placed on a card that it does not fit, and fails while it loads.",
        "Raise vram_gb as the hint says, or give the model a smaller context. On record is catalog/architectures/.",
    ),
    "record-ignored": Explanation(
        "A record of an architecture belongs to no model of the catalog.",
        "Nothing is compared with it, which nobody would notice after a model was renamed.",
        "Rename the file to catalog/architectures/MODEL.yaml, or remove it with its model.",
    ),
    "impossible-hardware": Explanation(
        "A machine cannot be like this.",
        "Fewer threads than cores, a card with two sizes, or a VM with more cores than its node has threads are typing "
        "mistakes that would end in a wrong plan or in a VM that does not start.",
        "Correct the number, or collect the node again.",
    ),
    "driver-branch": Explanation(
        "A card is too old or too new for the driver of its VM.",
        "A VM has one driver for all its cards, disabled ones too; R580 is the last branch for Maxwell and Pascal.",
        "Leave driver_generation out, so that the oldest card of each VM decides; or declare under drivers in "
        "catalog/platform.yaml a generation that serves all cards.",
    ),
    "driver-unknown": Explanation(
        "Nothing tells which driver a GPU VM gets.",
        "It gets the newest that still serves its oldest card, disabled ones too. A card of unknown compute capability "
        "could be the oldest, and is not guessed at.",
        "Collect the node again or fill compute_cap in; or name the generation under gpu_vm.overrides in "
        "catalog/platform.yaml.",
    ),
    "benchmark-missing": Explanation(
        "A card is enabled, but its type needs a benchmark first.",
        "The policy of the card type in catalog/platform.yaml says `requires: benchmark`: nobody knows yet whether the "
        "card is worth its power. It needs the figures of a whole llama-bench run with power, of one model on "
        "a card of this type, under measured in catalog/models.yaml.",
        "Set disabled: true on the card; run `knaster bench llm MODEL --card NODE/INDEX --file MODEL.gguf` on its "
        "machine, or bring a run from there with --import; then enable the card in the same pull request.",
    ),
    "passthrough-facts": Explanation(
        "A card cannot be handed to its VM: PCI facts are missing, or there are more cards than slots.",
        "At every start Proxmox compares PCI id, subsystem id and IOMMU group with the machine, and refuses if one is "
        "missing or different.",
        "Fill in pci.address, id, subsystem_id and iommu_group from the node, or collect it again.",
    ),
    "no-guests": Explanation(
        "There are Proxmox nodes, or were guests before, but the list of guests is empty.",
        "To OpenTofu an empty list means: destroy everything.",
        "Declare the guests; one that is given up is named under retire.",
    ),
    "assumed": Explanation(
        "A value is assumed and nobody has confirmed it.",
        "The plan is made as if it were true; what rests on it should not be applied before.",
        "Collect the node, or confirm the value and take the mark away.",
    ),
    "unknown-fact": Explanation(
        "A fact that planning needs is not known (null).",
        "What is not known is never guessed: a card of unknown size takes no role, a node of unknown memory no budget.",
        "Collect the node, or fill the fact in.",
    ),
}
