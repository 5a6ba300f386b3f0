//! Turns the name of a target into something that runs
