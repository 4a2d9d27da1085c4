"""Files to a cluster: which paths are inputs, and what each of them says."""
