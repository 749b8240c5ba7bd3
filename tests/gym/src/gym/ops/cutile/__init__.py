"""The cuTile backend."""
