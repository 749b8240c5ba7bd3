"""A project in TileGym's layout whose kernels are work of the processor."""
