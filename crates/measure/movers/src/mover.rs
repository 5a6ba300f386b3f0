//! The programs.

/// A program that moves or sends bulk data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mover {
    /// iperf 2, which measures.
    Iperf2,
    /// globus-url-copy, GridFTP's client.
    GridFtp,
    /// xrdcp, XRootD's client.
    Xrootd,
    /// rclone over sftp.
    Rclone,
    /// nuttcp, which measures.
    Nuttcp,
    /// scp, OpenSSH's.
    Scp,
}

impl Mover {
    /// All of them.
    pub const ALL: [Mover; 6] = [
        Mover::Iperf2,
        Mover::GridFtp,
        Mover::Xrootd,
        Mover::Rclone,
        Mover::Nuttcp,
        Mover::Scp,
    ];

    /// The program of URLs that begin so.
    pub fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "gridftp" | "gsiftp" | "ftp" | "sshftp" => Some(Mover::GridFtp),
            "root" | "roots" | "xroot" | "xroots" => Some(Mover::Xrootd),
            "iperf2" => Some(Mover::Iperf2),
            "nuttcp" => Some(Mover::Nuttcp),
            "scp" => Some(Mover::Scp),
            _ => None,
        }
    }

    /// A far end as users write it.
    pub fn example(self) -> &'static str {
        match self {
            Mover::Iperf2 => "iperf2://dtn.example.org",
            Mover::GridFtp => "gridftp://dtn.example.org/store/file",
            Mover::Xrootd => "root://dtn.example.org//store/file",
            Mover::Rclone => "sftp+rclone:REMOTE:store/file",
            Mover::Nuttcp => "nuttcp://dtn.example.org",
            Mover::Scp => "scp://dtn.example.org/store/file",
        }
    }

    /// Whether it moves files and does not only measure.
    pub fn moves_files(self) -> bool {
        !matches!(self, Mover::Iperf2 | Mover::Nuttcp)
    }
}
