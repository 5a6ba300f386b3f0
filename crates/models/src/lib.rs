//! Throughput models of TCP: response functions, selection and buffer rules
