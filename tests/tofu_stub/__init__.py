"""A provider that stands in for bpg/proxmox: its schema, and state that it believes without asking any Proxmox."""
