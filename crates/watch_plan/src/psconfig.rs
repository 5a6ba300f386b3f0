//! psconfig files of perfSONAR.
