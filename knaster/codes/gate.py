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
        "Undo the change, or name the guest under retire in catalog/platform.yaml.",
    ),
    "gate-replaces": Explanation(
        "The plan destroys a guest and makes it anew, and the guest is not under retire.",
        "The new one is empty: Proxmox cannot change such an attribute in place.",
        "Undo the change of the attribute that is named, or name the guest under retire in catalog/platform.yaml.",
    ),
    "gate-shrinks": Explanation(
        "A disk of a guest would become smaller.",
        "Proxmox disks only grow: the apply would end half way.",
        "Write the size that the disk has, or more, as disk_gb in catalog/platform.yaml.",
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
