//! TUN devices: the kernel's packets as bytes to read and write.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::thread;
use std::time::Duration;

use libc::{c_int, c_uint};

use crate::{EmuError, netlink, offload};

/// The name that the device has inside its namespace.
pub(crate) const NAME: &str = "wan0";
/// Packets or super-segments that wait for our reader. Well above any congestion
/// window that a few Gbit/s need, so that every drop is the link's and none the device's.
const READ_QUEUE_PACKETS: u32 = 100_000;

/// One end of the emulated path, ready to carry packets.
#[derive(Debug)]
pub(crate) struct Tun {
    device: File,
}

impl Tun {
    /// Makes the device in the calling thread's namespace and brings it up; it has the addresses
    /// `others` too. With `offload` the kernel hands over super-segments.
    pub(crate) fn create(
        address: Ipv4Addr,
        others: &[Ipv4Addr],
        mtu: u16,
        offload: bool,
    ) -> Result<Self, EmuError> {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(EmuError::TunUnavailable)?;
        let mut request = Request::named(NAME);
        request.set_flags(libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR);
        request.call(
            &device,
            libc::TUNSETIFF as libc::c_ulong,
            "making the TUN device",
        )?;
        if offload {
            set_offload(&device)?;
        }
        configure(address, others, mtu)?;
        Ok(Tun { device })
    }

    /// Reads one packet with the header of [`crate::offload`] into `buffer`; `None` when
    /// there is none now.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.device).read(buffer) {
            Ok(size) => Ok(Some(size)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands one packet with the header of [`crate::offload`] to the kernel, in parts that follow
    /// each other.
    pub(crate) fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        (&self.device).write_vectored(parts).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Has the kernel hand over super-segments of TCP, and of UDP where it can (Linux 6.2), and leave
/// checksums open.
fn set_offload(device: &File) -> Result<(), EmuError> {
    let header = c_int::try_from(offload::LENGTH).unwrap_or_default();
    // SAFETY: the descriptor is open while borrowed, and the request takes a pointer to an `int`,
    // which lives across the call.
    let outcome =
        unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETVNETHDRSZ, &raw const header) };
    let failed = || EmuError::Interface {
        step: "turning on segmentation offload",
        source: io::Error::last_os_error(),
    };
    if outcome != 0 {
        return Err(failed());
    }
    let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    let ask = |features: c_uint| {
        let features = libc::c_ulong::from(features);
        // SAFETY: the descriptor is open while borrowed, and the request takes a number.
        unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETOFFLOAD, features) == 0 }
    };
    let is_on = ask(tcp | libc::TUN_F_USO4 | libc::TUN_F_USO6) || ask(tcp);
    is_on.then_some(()).ok_or_else(failed)
}

/// Gives the device its addresses, and brings it and the loopback interface up.
fn configure(address: Ipv4Addr, others: &[Ipv4Addr], mtu: u16) -> Result<(), EmuError> {
    // Any socket of the namespace serves as the handle for interface requests.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(|source| {
        let step = "opening a control socket";
        EmuError::Interface { step, source }
    })?;
    let mut request = Request::named(NAME);
    request.set_number(i32::from(mtu));
    request.call(&socket, libc::SIOCSIFMTU, "setting the MTU")?;
    request.call(&socket, libc::SIOCGIFINDEX, "finding the device's index")?;
    netlink::set_queue_length(request.number(), READ_QUEUE_PACKETS).map_err(|source| {
        let step = "setting the queue length";
        EmuError::Interface { step, source }
    })?;
    request.set_address(address);
    request.call(&socket, libc::SIOCSIFADDR, "setting the address")?;
    // The whole block of tests, routers' addresses included, is behind the device.
    request.set_address(Ipv4Addr::new(255, 254, 0, 0));
    request.call(&socket, libc::SIOCSIFNETMASK, "setting the netmask")?;
    request.set_flags(libc::IFF_UP | libc::IFF_RUNNING);
    request.call(&socket, libc::SIOCSIFFLAGS, "bringing the device up")?;
    for (number, other) in others.iter().enumerate() {
        let mut alias = Request::named(&format!("{NAME}:{number}"));
        alias.set_address(*other);
        alias.call(
            &socket,
            libc::SIOCSIFADDR,
            "setting an address of cross traffic",
        )?;
    }
    let mut loopback = Request::named("lo");
    loopback.set_flags(libc::IFF_UP | libc::IFF_RUNNING);
    loopback.call(&socket, libc::SIOCSIFFLAGS, "bringing loopback up")
}

/// Gives the device of the calling thread's namespace an IPv6 address. The whole block of tests,
/// routers' addresses included, is behind it.
pub(crate) fn add_ipv6(address: Ipv6Addr) -> Result<(), EmuError> {
    const PREFIX: u32 = 48;
    let failed = |step| move |source| EmuError::Interface { step, source };
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0));
    let socket = socket.map_err(failed("opening an IPv6 control socket"))?;
    let mut device = Request::named(NAME);
    device.call(&socket, libc::SIOCGIFINDEX, "finding the device's index")?;
    let request = libc::in6_ifreq {
        ifr6_addr: libc::in6_addr {
            s6_addr: address.octets(),
        },
        ifr6_prefixlen: PREFIX,
        ifr6_ifindex: device.number(),
    };
    // SAFETY: the descriptor is open while borrowed, and on an IPv6 socket this request takes a
    // pointer to an `in6_ifreq`, which lives across the call.
    let outcome = unsafe {
        let set = libc::SIOCSIFADDR as libc::Ioctl;
        libc::ioctl(socket.as_raw_fd(), set, &raw const request)
    };
    match outcome {
        0 => await_ipv6(address).map_err(failed("taking up the IPv6 address")),
        _ => Err(failed("setting the IPv6 address")(
            io::Error::last_os_error(),
        )),
    }
}

/// The kernel lets sockets have a new address a moment later.
fn await_ipv6(address: Ipv6Addr) -> io::Result<()> {
    for _ in 0..1000 {
        match UdpSocket::bind((address, 0)) {
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => {
                thread::sleep(Duration::from_millis(1));
            }
            outcome => return outcome.map(drop),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// The argument of interface ioctls.
struct Request(libc::ifreq);

impl Request {
    fn named(name: &str) -> Self {
        // SAFETY: `ifreq` is a C structure of integers and bytes, for which all zero is valid.
        let mut request: libc::ifreq = unsafe { mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        Request(request)
    }

    fn set_flags(&mut self, flags: libc::c_int) {
        self.0.ifr_ifru.ifru_flags = flags as libc::c_short;
    }

    /// A bare number; the union has one `int` for MTU, index and the like.
    fn set_number(&mut self, number: i32) {
        self.0.ifr_ifru.ifru_mtu = number;
    }

    fn number(&self) -> i32 {
        // SAFETY: every field of the union is plain data, and all of it was initialised.
        unsafe { self.0.ifr_ifru.ifru_mtu }
    }

    fn set_address(&mut self, address: Ipv4Addr) {
        let inet = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 0,
            sin_addr: libc::in_addr {
                s_addr: u32::from(address).to_be(),
            },
            sin_zero: [0; 8],
        };
        // SAFETY: `sockaddr_in` and `sockaddr` have the same size, and the family says which it is.
        self.0.ifr_ifru.ifru_addr =
            unsafe { mem::transmute::<libc::sockaddr_in, libc::sockaddr>(inet) };
    }

    fn call(
        &mut self,
        handle: &impl AsRawFd,
        request: libc::c_ulong,
        step: &'static str,
    ) -> Result<(), EmuError> {
        // SAFETY: the descriptor is open while borrowed, and every request used here takes a
        // pointer to an `ifreq`, which lives across the call.
        let outcome =
            unsafe { libc::ioctl(handle.as_raw_fd(), request as libc::Ioctl, &raw mut self.0) };
        match outcome {
            0 => Ok(()),
            _ => Err(EmuError::Interface {
                step,
                source: io::Error::last_os_error(),
            }),
        }
    }
}
