//! What a run is asked for, what it showed, and the Target that runs it
