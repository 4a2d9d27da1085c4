"""Codes of generated files."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.codes.explanation import Explanation

CODES: Mapping[str, Explanation] = {
    "generated-missing": Explanation(
        "A file that the inputs need is not in generated/.",
        "Consumers follow generated/; without the file they keep the old state or fail.",
        "Run knaster render.",
    ),
    "generated-extra": Explanation(
        "A file in generated/ is none that the inputs make.",
        "A leftover is still read by OpenTofu, Ansible or Prometheus.",
        "Run knaster render; it removes the file. Keep files of your own elsewhere.",
    ),
    "generated-edited": Explanation(
        "A generated file was changed by hand.",
        "The change was never planned, and the next render would undo it.",
        "Change the inputs instead, then run knaster render.",
    ),
    "generated-stale": Explanation(
        "A generated file is out of date.",
        "It was made from other inputs, or by another version of knaster.",
        "Run knaster render.",
    ),
    "generated-mode": Explanation(
        "A generated file is executable.",
        "Nothing in generated/ is a program; a changed mode is a change that nobody planned.",
        "Run knaster render.",
    ),
    "generated-eol": Explanation(
        "A generated file has other line endings than LF.",
        "Its content is right, but its bytes differ from what is reviewed, and every line shows as changed.",
        "Put `generated/** -text` into .gitattributes, then run knaster render.",
    ),
    "generated-drops": Explanation(
        "A guest of the last generation is not in this one, and retire does not name it.",
        "OpenTofu's plan would destroy it; a guest that is renamed is one that goes and another that comes.",
        "Give it its name back, or name it under retire in catalog/platform.yaml; knaster tofu gate refuses the plan.",
    ),
    "generated-link": Explanation(
        "An entry in generated/ is a link or no regular file.",
        "Writing through a link would change a file elsewhere.",
        "Remove it, then run knaster render.",
    ),
    "generated-state": Explanation(
        "OpenTofu's state lies inside generated/.",
        "render replaces the whole folder; with the state OpenTofu would forget every guest it made.",
        "Move the state out, to where the backend of the module says, then run knaster render.",
    ),
    "merge-conflict": Explanation(
        "A file of a pull request has conflicts with its target branch.",
        "There is no merged fleet to plan, so nothing can be said about it.",
        "Merge the target into the branch, resolve the conflicts and push.",
    ),
    "current-unreadable": Explanation(
        "The placement in force cannot be read.",
        "Without it roles may move between cards that are equally good.",
        "Restore generated/placement.yaml from git, or accept the plan and run knaster render.",
    ),
    "internal-output": Explanation(
        "This is a bug in knaster: it made a file that its own schema refuses.",
        "Nothing was written, so the last generation stays in force.",
        "Report it with the inputs that caused it.",
    ),
}
