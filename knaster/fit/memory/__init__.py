"""What serving a model needs, in bytes: weights, caches, buffers and overheads of each engine."""
