"""From what was published of a model to the facts that memory depends on: config, layer kinds, tensors, headers."""
