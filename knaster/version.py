"""The version, in one place: read by the build, by ``--version`` and by the manifest, without importing anything."""

__version__ = "0.1.0"
