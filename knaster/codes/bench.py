"""Codes of `knaster bench`."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.codes.explanation import Explanation

CODES: Mapping[str, Explanation] = {
    "bench-layout": Explanation(
        "What was measured could not be written into the catalog.",
        "The file is legal YAML, but written in a way that cannot be edited without writing it anew, and nothing that "
        "people wrote is written anew.",
        "Write the model and its measured list as plain blocks, then record the run again.",
    ),
    "bench-run": Explanation(
        "A run is not recorded, or only a part of it.",
        "A figure counts only where it is known what ran: the whole model on one card of the type that was named, in "
        "numbers that can be true.",
        "Run it again as the message says.",
    ),
    "bench-power": Explanation(
        "There is no power reading.",
        "Without nvidia-smi, for a card whose power it does not know, or where it answered for too little of the run, "
        "tokens per joule cannot be told, and a card whose type requires a benchmark stays disabled.",
        "Run it where nvidia-smi shows power.draw, or give --power-watts or --power-log with --import.",
    ),
}
