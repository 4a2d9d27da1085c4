"""Every way a published model could run on the fleet, and its catalog entry."""
