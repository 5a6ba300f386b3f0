//! Result documents: versioned JSON, saved and read again
