//! Statistics that the measurements rest on, each with its source
