//! What follows from the measurements, by rule.
