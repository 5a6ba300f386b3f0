//! Settings to paste into other tools.

use units::Bytes;

/// A program that moves or measures bulk data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// iperf3.
    Iperf3,
    /// globus-url-copy, GridFTP's client.
    GlobusUrlCopy,
    /// xrdcp, XRootD's client.
    Xrdcp,
    /// bbcp.
    Bbcp,
    /// FDT.
    Fdt,
    /// rclone.
    Rclone,
}

/// How one tool is told to use a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The tool.
    pub tool: Tool,
    /// A command with the setting in it; parts in capitals are the user's to fill in.
    pub command: String,
    /// What the tool does differently from what was asked, if anything.
    pub note: Option<String>,
}

/// One line for `/etc/sysctl.d` or `sysctl -w`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SysctlLine {
    /// The key, such as `net.core.wmem_max`.
    pub key: &'static str,
    /// The value to give it: one number, or three for `tcp_rmem` and `tcp_wmem`.
    pub value: String,
    /// What it is now.
    pub now: Bytes,
    /// Why it stands in the way.
    pub why: String,
}
