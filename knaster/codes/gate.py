"""Codes of `knaster tofu gate`."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.codes.explanation import Explanation

CODES: Mapping[str, Explanation] = {
    "gate-plan": Explanation(
        "The plan cannot be applied, or cannot be read.",
        "OpenTofu ended it with an error, or the file is something else than `tofu show -json` of a plan file.",
        "Make it again: tofu plan -out=FILE, then tofu show -json FILE.",
    ),
    "gate-partial": Explanation(
        "The plan leaves something out.",
        "It was made with -target, -exclude or -exclude-file, as it must be while a node is down.",
        "Nothing, if that was meant. Once the node is back, plan everything.",
    ),
    "gate-files": Explanation(
        "The plan was not made from the generated/ that is here.",
        "A saved plan carries its own files and values: an apply follows it, whatever was reviewed since.",
        "Check out the commit that is to be applied, let knaster render --check say yes, and make the plan again.",
    ),
    "gate-destroys": Explanation(
        "The plan destroys a guest that is not under retire.",
        "Its disks go with it. A renamed guest is one that is destroyed and another that is created.",
        "Undo the change; or take the guest out of the fleet and name it under retire in catalog/platform.yaml.",
    ),
    "gate-replaces": Explanation(
        "The plan destroys a guest and makes it anew.",
        "The new one is empty: Proxmox cannot change such an attribute in place. Of a VM, retire is the permission. A "
        "container is guarded by the module (prevent_destroy), whatever retire says: OpenTofu ends the whole plan.",
        "Undo the change of the attribute that is named. Or, for a VM: name it under retire in catalog/platform.yaml, "
        "apply, and take it out again. For a container: back its data up; take it out of the fleet and name it under "
        "retire, land and apply; then put it in again as it is to be, without retire and exists, land and apply.",
    ),
    "gate-shrinks": Explanation(
        "A disk of a guest would become smaller.",
        "Proxmox disks only grow: OpenTofu plans an update, and the apply would end half way.",
        "Write the size that the disk has, or more, as disk_gb in catalog/platform.yaml.",
    ),
    "gate-detaches": Explanation(
        "The apply would take something out of a guest that the module does not declare.",
        "A GPU VM has one disk, scsi0, and one network device. OpenTofu plans an update, and the provider takes out "
        "whatever else the VM has: of a disk the volume stays in Proxmox as unused0, and what ran from it does not run "
        "any more. A disk under another name (virtio0) would leave the VM with a new, empty scsi0. Disks and the TPM "
        "state are refused; of other devices a warning tells.",
        "A disk under another name: with the VM off, detach it on its node and attach the same volume as scsi0. A "
        "second disk: copy what it holds to scsi0, raising disk_gb, then qm disk unlink VMID --idlist scsi1. Then plan "
        "again: the plan has nothing to take out.",
    ),
    "gate-firmware": Explanation(
        "The apply would change the firmware of a VM from SeaBIOS to UEFI.",
        "The module's VMs have UEFI. A system that was installed for SeaBIOS has no boot loader for it, and does not "
        "come up after the restart.",
        "Give the system an EFI partition and a boot loader first, or have the VM made anew; till then leave it out of "
        "plans (-exclude).",
    ),
    "gate-own-guest": Explanation(
        "The apply would restart or destroy the guest that carries OpenTofu.",
        "Run there it dies with its guest: the rest is not done, and what it did last may be missing in the state.",
        "Make the same change on the guest's node first (pct set, pct reboot): the next plan then has nothing to do "
        "there. Or leave the guest out (-exclude), apply the rest, and apply this from another machine with the same "
        "state; there knaster tofu gate --elsewhere allows it.",
    ),
    "gate-down": Explanation(
        "The plan would do something on a node that is down.",
        "That fails, and OpenTofu skips whatever waits for it: for an image those are the VMs of all nodes.",
        "Plan with -refresh=false and -exclude-file=down.exclude. A node that was never applied has no image yet: "
        "leave its file out of inventory/ until it is on.",
    ),
    "gate-no-keys": Explanation(
        "A guest would be made without an ssh key.",
        "Keys are given when a VM or container is made, and later ones are not given to it: nobody could log in.",
        "Write the public keys of people and Ansible under access.ssh_keys in catalog/platform.yaml, and plan again.",
    ),
    "gate-import": Explanation(
        "A guest that was there before would be destroyed instead of adopted.",
        "The platform says something of it that is not so and cannot be changed in place.",
        "Correct the guest in catalog/platform.yaml (storage, disk_gb, unprivileged, vmid, node).",
    ),
    "gate-assumed": Explanation(
        "A resource mapping would be made from facts that nobody has read off the machine.",
        "Proxmox compares them at every start of the VM; a wrong one keeps it from starting.",
        "Run knaster inventory collect on the node and land the profile.",
    ),
    "gate-lost": Explanation(
        "A guest is no longer where OpenTofu's state has it, and would be made a second time.",
        "After a failover it runs on another node under the same VM id; making it again fails or splits its data.",
        "Remove it from the state and import it from the node that it runs on; docs/opentofu.md shows how.",
    ),
    "gate-card-moves": Explanation(
        "A card seems to move from one node to another in one apply.",
        "Both VMs change, and until the card is in its new place one of them does not start.",
        "Land and apply the removal first, move the card, then collect the other node and land that.",
    ),
}
