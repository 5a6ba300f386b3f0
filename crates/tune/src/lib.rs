//! Finds the operating point of a target: what to try next, when to stop, what to recommend
