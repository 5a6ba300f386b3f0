//! The description of a path: TOML in, checked value out
