//! What the device says.
