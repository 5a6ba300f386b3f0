//! How plans are made.

/// How plans are made.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// Which host of the plan this machine is.
    pub host: Option<String>,
    /// Threads that walk; more than processors help where folders are on a network.
    pub threads: usize,
    /// Bytes of memory for names.
    pub memory: usize,
}

/// Eight threads: enough to keep disks busy that answer one after the other. 256 MiB hold two
/// million names; more are sorted on disk.
impl Default for PlanOptions {
    fn default() -> Self {
        PlanOptions {
            host: None,
            threads: 8,
            memory: 256 << 20,
        }
    }
}
