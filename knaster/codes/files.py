"""Codes of reading files: YAML, file names, schemas."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.codes.explanation import Explanation

CODES: Mapping[str, Explanation] = {
    "yaml-encoding": Explanation(
        "The file is not clean UTF-8 text.",
        "Invalid bytes, NUL, a byte order mark inside the file and the line breaks NEL, LS and PS are read differently "
        "by different programs, or not at all; a no-break space in the indentation looks like a space and is a letter.",
        "Save the file as UTF-8, and delete or replace the character at the position named.",
    ),
    "yaml-tab": Explanation(
        "There is a tab where YAML wants spaces.",
        "YAML forbids tabs as indentation, and readers disagree about tabs elsewhere.",
        "Replace the tab by spaces.",
    ),
    "yaml-quote": Explanation(
        "A value or key without quotes means different things to different YAML readers.",
        "NO is text in YAML 1.2 and false in YAML 1.1; 1:30 is 90 to PyYAML; 1e3 is a number to OpenTofu. What is "
        "reviewed has to be what every tool reads.",
        'Put it in double quotes: "NO". If a number or boolean is meant, write it plainly: true, false, 0.5, 42.',
    ),
    "yaml-key": Explanation(
        "A key is not text.",
        "Keys such as 1, true or null are text to some readers and numbers to others; a list cannot be a key at all.",
        'Put the key in double quotes: "1".',
    ),
    "yaml-duplicate-key": Explanation(
        "A key appears twice in one mapping.",
        "Most readers keep the last one in silence, so a line that is reviewed may have no effect.",
        "Keep one of the two; the other position is named.",
    ),
    "yaml-alias": Explanation(
        "An anchor, an alias or a merge key is used.",
        "They hide what a line changes elsewhere, and small files can expand to gigabytes with them.",
        "Write the value out where it is needed.",
    ),
    "yaml-tag": Explanation(
        "A value has an explicit tag, such as !!int or !env, or the file has a directive.",
        "Tags make readers run code or change types; nothing here needs one.",
        "Remove the tag, and put text in double quotes.",
    ),
    "yaml-conflict-marker": Explanation(
        "The file holds a merge conflict marker.",
        "Git could not merge two changes; until a person decides, the content is neither of them.",
        "Keep one side or join both, then delete the lines with <<<<<<<, ======= and >>>>>>>.",
    ),
    "yaml-documents": Explanation(
        "The file holds several YAML documents.",
        "Many readers look at the first one only, so the rest would be lost in silence.",
        "Put each document into a file of its own, and remove the --- between them.",
    ),
    "yaml-root": Explanation(
        "The file does not hold a mapping at its top.",
        "Every input is a mapping of keys; an empty file, a list or a single word says nothing.",
        "Start the file with its keys, such as name: or roles:.",
    ),
    "yaml-bounds": Explanation(
        "The file is larger, deeper or has longer numbers than any input needs.",
        "Bounds keep a hostile or broken file from stopping everybody's checks.",
        "Split the file, flatten it, or shorten the number.",
    ),
    "yaml-syntax": Explanation(
        "The file is not valid YAML.",
        "Nothing in it can be read, so the checks across files are skipped.",
        "Look at the position named and the line before it: a missing colon, quote, bracket or a wrong indentation.",
    ),
    "file-name": Explanation(
        "A file looks like an input but has a name that is not read.",
        "A node file with the ending .yml, or in other case, would be left out in silence, and with it the node.",
        "Rename it to inventory/<node>.yaml, or to the catalog file that is meant.",
    ),
    "file-ignored": Explanation(
        "A file in inventory/ or catalog/ is none that is read.",
        "Backups and notes there are easily taken for data.",
        "Remove it, or move it out of these folders.",
    ),
    "file-kind": Explanation(
        "An entry is no regular file of a sensible size.",
        "A link can point anywhere on the machine that checks a pull request; pipes and devices never end.",
        "Put a regular file in its place.",
    ),
    "file-missing": Explanation(
        "An input that is needed does not exist.",
        "Without any node file, or without one of the three catalog files, a plan would tear down what runs.",
        "Add the file; the `catalog/` and `inventory/` of the knaster repository are a complete example.",
    ),
    "name-mismatch": Explanation(
        "The name of a node, or of the model of a history of benchmarks, differs from that of its file.",
        "The name is the node's identity in roles, guests and pull requests, and people look for it by file.",
        "Rename the file, or correct name.",
    ),
    "check-skipped": Explanation(
        "Some checks were not made, because their input could not be read.",
        "Silence would look like success.",
        "Correct the errors reported for the files named; the checks then run.",
    ),
    "schema-unknown-key": Explanation(
        "A key does not exist in this place.",
        "A mistyped key would have no effect, and OpenTofu drops such keys without a word.",
        "Correct the name (near misses are suggested), or remove the key.",
    ),
    "schema-missing-key": Explanation(
        "A key that is required is not there.",
        "Without it there is nothing to plan with, and no default would be right.",
        "Add the key; an unknown fact of a machine is null.",
    ),
    "schema-type": Explanation(
        "A value has the wrong type.",
        "Text where a number is needed, or a single value where a list is needed, is read differently by every tool.",
        "Write the type that is asked for; text goes in double quotes, numbers and booleans without.",
    ),
    "schema-value": Explanation(
        "A value is not among those allowed here.",
        "It is out of its range, does not match its pattern, is not in the list of choices, or stands twice in a set.",
        "Choose a value that the message names; editors complete it from the schema.",
    ),
}
