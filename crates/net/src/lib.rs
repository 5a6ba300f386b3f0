//! Streams over real sockets: client, server, `TCP_INFO` and round-trip probes.
