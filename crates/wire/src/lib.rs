//! iperf3's protocol and our extension to it, without I/O
