"""One module per source: pure functions of text (and exit status) to a `knaster.inventory.reading.Reading`."""
