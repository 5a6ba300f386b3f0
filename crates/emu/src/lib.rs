//! A path emulated between two network namespaces, carrying the kernel's real TCP
