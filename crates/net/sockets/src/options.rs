//! Socket options of a stream, and what the kernel made of them.

mod dscp;
mod source;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use observe::{Buffer, Buffers};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use thiserror::Error;
use units::{Bytes, Dscp, Rate, Source, Span, Via};

use crate::host;

pub use dscp::set_dscp;
pub(crate) use source::leave_from;

/// How buffers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BufferLimit {
    /// Up to the host's `wmem_max` and `rmem_max`, as every program.
    #[default]
    Host,
    /// Beyond them where this user may, which takes root: for emulated paths, whose hosts have
    /// limits of their own (`emu`'s `sysctl.rs` has those of buffers that the kernel chooses).
    /// Others get what the host grants, and the readings say how much that is.
    Lifted,
}

/// What a stream is asked to use; `None` leaves it to the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StreamOptions {
    /// Both socket buffers.
    pub window: Option<Bytes>,
    /// Whether they may pass the host's bounds.
    pub limit: BufferLimit,
    /// Congestion control by its kernel name.
    pub congestion: Option<String>,
    /// The most that the kernel sends.
    pub pacing: Option<Rate>,
    /// Largest segment.
    pub segment: Option<Bytes>,
    /// Small writes are sent at once.
    pub no_delay: bool,
    /// How its packets leave this host.
    pub via: Via,
    /// How long data may stay unacknowledged before the connection counts as broken
    /// (`TCP_USER_TIMEOUT`; RFC 5482 has the idea).
    pub user_timeout: Option<Span>,
    /// Bytes that wait in the kernel unsent before a write waits (`TCP_NOTSENT_LOWAT`), beside
    /// those on the way.
    pub unsent_max: Option<Bytes>,
}

impl StreamOptions {
    /// Whether the kernel of this host grants them.
    ///
    /// # Errors
    /// Which one it refuses.
    pub fn try_here(&self) -> Result<(), OptionError> {
        self.socket(Domain::IPV4).map(drop)
    }

    /// The same for connections to that address.
    ///
    /// # Errors
    /// Which one it refuses.
    pub fn try_towards(&self, far: IpAddr) -> Result<(), OptionError> {
        let domain = Domain::for_address(SocketAddr::new(far, 0));
        self.socket(domain).map(drop)
    }
}

impl OptionError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        match self {
            OptionError::Congestion { name, .. } => Some(format!(
                "check the spelling; `modprobe tcp_{name}` loads it where the kernel has it"
            )),
            OptionError::CongestionForbidden { name, allowed, .. } => Some(format!(
                "root allows it with `sysctl \
                 net.ipv4.tcp_allowed_congestion_control=\"{} {name}\"`",
                allowed.replace(',', "")
            )),
            OptionError::Source { .. } => {
                Some("`ip address` shows this host's addresses and devices".to_owned())
            }
            OptionError::SegmentOfMultipath(_) => {
                Some("leave out `--set-mss` or `--mptcp`".to_owned())
            }
            OptionError::Multipath(_) => Some(
                "root turns it on with `sysctl net.mptcp.enabled=1`, in Linux from 5.15 on; \
                 without `--mptcp` it is not needed"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// An option that the kernel refused.
#[derive(Debug, Error)]
pub enum OptionError {
    /// The kernel does not have the congestion control.
    #[error("congestion control `{name}` is not available; this host has {available}")]
    Congestion {
        /// What was asked for.
        name: String,
        /// What the kernel lists.
        available: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel has the congestion control but keeps it for root.
    #[error("congestion control `{name}` is not allowed to this user; this host allows {allowed}")]
    CongestionForbidden {
        /// What was asked for.
        name: String,
        /// What the kernel lists.
        allowed: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The segment size is out of range.
    #[error("the kernel refused segments of {size}; 88 to 32767 bytes are possible")]
    Segment {
        /// What was asked for.
        size: Bytes,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel has no segment size for multipath TCP.
    #[error("this kernel sets no segment size for multipath TCP, as Linux does from 6.17 on")]
    SegmentOfMultipath(#[source] io::Error),
    /// A buffer could not be set.
    #[error("the kernel refused socket buffers of {size}")]
    Buffer {
        /// What was asked for.
        size: Bytes,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The pacing rate could not be set.
    #[error("the kernel refused to pace at {rate}")]
    Pacing {
        /// What was asked for.
        rate: Rate,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The packets could not be marked.
    #[error("the kernel refused to mark packets with DSCP {}", .dscp.code_point())]
    Dscp {
        /// What was asked for.
        dscp: Dscp,
        /// The kernel's answer.
        source: io::Error,
    },
    /// This kernel has no multipath TCP, or has it turned off.
    #[error("this host has no multipath TCP")]
    Multipath(#[source] io::Error),
    /// Packets cannot leave from there.
    #[error("this host cannot send from `{from}`")]
    Source {
        /// What was asked for.
        from: Source,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A plain socket operation failed.
    #[error("the stream's socket could not be prepared")]
    Socket(#[source] io::Error),
}

/// Whether this process or host has no descriptor left.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

impl StreamOptions {
    /// A TCP socket with these options, not yet connected.
    pub fn socket(&self, domain: Domain) -> Result<Socket, OptionError> {
        let socket = match self.via.multipath {
            true => multipath_socket(domain)?,
            false => Socket::new(domain, Type::STREAM, Some(Protocol::TCP))
                .map_err(OptionError::Socket)?,
        };
        leave_from(&SockRef::from(&socket), &self.via.source)?;
        self.apply(&SockRef::from(&socket))?;
        Ok(socket)
    }

    /// Sets the options on any TCP socket: all that the kernel takes. Says which is the first one
    /// that it refuses.
    pub fn apply(&self, socket: &SockRef<'_>) -> Result<(), OptionError> {
        let window = self.window.map_or(Ok(()), |size| {
            let set = self.set_buffers(socket, size);
            set.map_err(|source| OptionError::Buffer { size, source })
        });
        let congestion = self.congestion.as_deref();
        let congestion = congestion.map_or(Ok(()), |name| set_congestion(socket, name));
        let set_pacing = |rate| set_pacing_max(socket, Some(rate));
        let pacing = self.pacing.map_or(Ok(()), set_pacing);
        let segment = self.segment.map_or(Ok(()), |size| {
            let bytes = u32::try_from(size.get()).unwrap_or(u32::MAX);
            let set = socket.set_tcp_mss(bytes);
            set.map_err(|source| match is_lacking(socket, &source) {
                true => OptionError::SegmentOfMultipath(source),
                false => OptionError::Segment { size, source },
            })
        });
        let dscp = self.via.dscp.map_or(Ok(()), |dscp| set_dscp(socket, dscp));
        let no_delay = match self.no_delay {
            true => unless_lacking(socket, socket.set_tcp_nodelay(true)),
            false => Ok(()),
        };
        let of_copies = self.apply_to_copies(socket);
        let all = [
            window, congestion, pacing, segment, dscp, no_delay, of_copies,
        ];
        all.into_iter().collect()
    }

    /// What only streams of copies are asked to use. The kernel has no `TCP_USER_TIMEOUT` for
    /// multipath TCP, whose streams a copy replaces where they hang.
    fn apply_to_copies(&self, socket: &SockRef<'_>) -> Result<(), OptionError> {
        let limit = self.user_timeout.filter(|_| !is_multipath(socket));
        let limited = limit.map_or(Ok(()), |limit| {
            let set = socket.set_tcp_user_timeout(Some(limit.into()));
            set.map_err(OptionError::Socket)
        });
        let unsent = self.unsent_max.map_or(Ok(()), |most| {
            let bytes = u32::try_from(most.get()).unwrap_or(u32::MAX);
            unless_lacking(socket, socket.set_tcp_notsent_lowat(bytes))
        });
        limited.and(unsent)
    }

    /// Also lifts the window that was derived from the listener's buffer when the connection came
    /// in: the kernel leaves it alone when `SO_RCVBUF` changes afterwards. Multipath TCP has no
    /// such window, and follows the buffer: seen with Linux 6.18.
    pub fn apply_to_accepted(&self, stream: &TcpStream) -> Result<(), OptionError> {
        let socket = SockRef::from(stream);
        let applied = self.apply(&socket);
        if let Some(size) = self.window.filter(|_| !is_multipath(&socket)) {
            let granted = socket.recv_buffer_size().map_err(OptionError::Socket)?;
            let clamp = libc::c_int::try_from(granted / 2).unwrap_or(libc::c_int::MAX);
            set_option(&socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &clamp)
                .map_err(|source| OptionError::Buffer { size, source })?;
        }
        applied
    }

    fn set_buffers(&self, socket: &SockRef<'_>, size: Bytes) -> io::Result<()> {
        let bytes = usize::try_from(size.get()).unwrap_or(usize::MAX);
        socket.set_send_buffer_size(bytes)?;
        socket.set_recv_buffer_size(bytes)?;
        match self.limit {
            BufferLimit::Host => Ok(()),
            BufferLimit::Lifted => lift_buffers(socket, bytes),
        }
    }

    /// What the kernel granted, with what was asked for.
    pub fn granted(&self, stream: &TcpStream) -> io::Result<Buffers> {
        let socket = SockRef::from(stream);
        let buffer = |granted: usize| Buffer {
            asked: self.window,
            granted: Bytes::new(granted as u64),
        };
        Ok(Buffers {
            send: buffer(socket.send_buffer_size()?),
            receive: buffer(socket.recv_buffer_size()?),
        })
    }
}

/// What multipath TCP got later than the rest of it, `TCP_NODELAY` in Linux 5.17 and
/// `TCP_NOTSENT_LOWAT` in 6.9: it only saves time, and the stream does without.
fn unless_lacking(socket: &SockRef<'_>, set: io::Result<()>) -> Result<(), OptionError> {
    match set {
        Err(error) if is_lacking(socket, &error) => Ok(()),
        set => set.map_err(OptionError::Socket),
    }
}

/// Whether the kernel says so of an option that it has for plain TCP.
fn is_lacking(socket: &SockRef<'_>, error: &io::Error) -> bool {
    let lacking = [Some(libc::EOPNOTSUPP), Some(libc::ENOPROTOOPT)];
    lacking.contains(&error.raw_os_error()) && is_multipath(socket)
}

/// Sets the buffers beyond the host's bounds, or leaves them where this user may not.
fn lift_buffers(socket: &SockRef<'_>, bytes: usize) -> io::Result<()> {
    let lifted = setsockopt(&socket.as_fd(), sockopt::SndBufForce, &bytes)
        .and_then(|()| setsockopt(&socket.as_fd(), sockopt::RcvBufForce, &bytes));
    match lifted {
        Ok(()) | Err(Errno::EPERM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn multipath_socket(domain: Domain) -> Result<Socket, OptionError> {
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::MPTCP));
    socket.map_err(|error| match error.raw_os_error() {
        // The last one is that of kernels which know no protocol of such a number.
        Some(libc::ENOPROTOOPT | libc::EPROTONOSUPPORT | libc::EINVAL) => {
            OptionError::Multipath(error)
        }
        _ => OptionError::Socket(error),
    })
}

/// Whether a socket is of multipath TCP. One that connected stays so with plain TCP beneath, one
/// that was accepted is of plain TCP where the other end has nothing else.
pub(crate) fn is_multipath(socket: &SockRef<'_>) -> bool {
    let protocol = socket.protocol();
    protocol.is_ok_and(|protocol| protocol == Some(Protocol::MPTCP))
}

/// The congestion control in use.
pub fn congestion(stream: &TcpStream) -> Option<String> {
    let name = SockRef::from(stream).tcp_congestion().ok()?;
    let text = name.split(|byte| *byte == 0).next()?;
    String::from_utf8(text.to_vec()).ok()
}

fn set_congestion(socket: &SockRef<'_>, name: &str) -> Result<(), OptionError> {
    let set = socket.set_tcp_congestion(name.as_bytes());
    set.map_err(|source| congestion_error(name.to_owned(), source))
}

fn congestion_error(name: String, source: io::Error) -> OptionError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => OptionError::CongestionForbidden {
            name,
            allowed: listed("allowed"),
            source,
        },
        _ => OptionError::Congestion {
            name,
            available: listed("available"),
            source,
        },
    }
}

/// The kernel's `allowed` or `available` congestion controls.
fn listed(which: &str) -> String {
    match host::congestion_listed(which) {
        names if names.is_empty() => "only its default".to_owned(),
        names => names.join(", "),
    }
}

/// The kernel's word for no bound.
const UNPACED: u64 = u64::MAX;

/// Bounds what the kernel sends; `None` lifts the bound.
pub fn set_pacing_max(socket: &SockRef<'_>, rate: Option<Rate>) -> Result<(), OptionError> {
    let bytes_per_second = |rate: Rate| (rate.bits_per_second() / 8).max(1);
    let value = rate.map_or(UNPACED, bytes_per_second);
    // Kernels before 5.0 take 32 bits only and read the lower half of what they are given.
    let set = set_option(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &value);
    let rate = rate.unwrap_or(Rate::from_bits_per_second(u64::MAX));
    set.map_err(|source| OptionError::Pacing { rate, source })
}

/// Sets an option whose value is plain data.
///
/// # Errors
/// When the kernel refuses it.
#[expect(unsafe_code, reason = "no safe crate covers these options")]
pub fn set_option<T: Copy>(
    socket: &SockRef<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the descriptor is open while `socket` is borrowed; the kernel reads
    // `size_of::<T>()` bytes from `value`, which is a valid reference to plain data.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads an option that is one number.
///
/// # Errors
/// When the kernel refuses it.
#[expect(unsafe_code, reason = "no safe crate covers these options")]
pub fn get_option(
    socket: &SockRef<'_>,
    level: libc::c_int,
    name: libc::c_int,
) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open while `socket` is borrowed; the kernel writes at most `length`
    // bytes to `value`, which is as long.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads an option that is a structure, as far as the kernel knows it and `room` goes; what stands
/// in `room` is told first. Returns how much was filled in.
///
/// # Errors
/// When the kernel refuses it.
#[expect(unsafe_code, reason = "no safe crate covers these options")]
pub(crate) fn get_bytes(
    socket: &SockRef<'_>,
    level: libc::c_int,
    name: libc::c_int,
    room: &mut [u8],
) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(room.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the descriptor is open while `socket` is borrowed, and the kernel writes at most
    // `length` bytes into `room`, which is at least that long.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            room.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok(length as usize),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(options: &StreamOptions) -> Result<Socket, OptionError> {
        options.socket(Domain::IPV4)
    }

    #[test]
    fn the_kernel_doubles_a_window_it_grants() {
        let options = StreamOptions {
            window: Some(Bytes::from_kib(64)),
            ..StreamOptions::default()
        };
        let stream = TcpStream::from(prepared(&options).unwrap());
        let buffers = options.granted(&stream).unwrap();
        assert_eq!(buffers.send.granted, Bytes::from_kib(128));
        assert_eq!(buffers.receive.asked, Some(Bytes::from_kib(64)));
    }

    #[test]
    fn an_unknown_congestion_control_names_those_there_are() {
        let options = StreamOptions {
            congestion: Some("nosuch".to_owned()),
            ..StreamOptions::default()
        };
        let error = prepared(&options).unwrap_err().to_string();
        assert!(error.starts_with("congestion control `nosuch`"), "{error}");
        assert!(error.contains("reno"), "{error}");
    }

    #[test]
    fn a_forbidden_congestion_control_is_told_from_an_unknown_one() {
        let forbidden = io::Error::from_raw_os_error(libc::EPERM);
        let text = congestion_error("htcp".to_owned(), forbidden).to_string();
        assert!(
            text.contains("`htcp` is not allowed to this user"),
            "{text}"
        );
        let unknown = io::Error::from_raw_os_error(libc::ENOENT);
        let text = congestion_error("htcp".to_owned(), unknown).to_string();
        assert!(text.contains("`htcp` is not available"), "{text}");
    }

    #[test]
    fn options_reach_the_socket() {
        let options = StreamOptions {
            congestion: Some("reno".to_owned()),
            pacing: Some(Rate::from_bits_per_second(1_000_000)),
            segment: Some(Bytes::new(1_200)),
            no_delay: true,
            ..StreamOptions::default()
        };
        let stream = TcpStream::from(prepared(&options).unwrap());
        assert_eq!(congestion(&stream).as_deref(), Some("reno"));
        assert!(stream.nodelay().unwrap());
    }

    #[test]
    fn options_behind_one_that_is_refused_are_set() {
        let options = StreamOptions {
            congestion: Some("nosuch".to_owned()),
            no_delay: true,
            ..StreamOptions::default()
        };
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let refused = options.apply(&SockRef::from(&socket)).unwrap_err();
        assert!(refused.to_string().contains("`nosuch`"), "{refused}");
        assert!(socket.tcp_nodelay().unwrap());
    }

    #[test]
    fn an_absurd_segment_size_is_refused_with_the_bound() {
        let options = StreamOptions {
            segment: Some(Bytes::new(10)),
            ..StreamOptions::default()
        };
        let error = prepared(&options).unwrap_err().to_string();
        assert!(error.contains("10B") && error.contains("32767"), "{error}");
    }
}
