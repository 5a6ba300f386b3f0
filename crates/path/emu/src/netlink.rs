//! The one interface setting that ordinary users may make only through rtnetlink.

use std::io;
use std::os::fd::AsRawFd;

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

/// `IFLA_TXQLEN` of `linux/if_link.h`.
const IFLA_TXQLEN: u16 = 13;
/// `RTM_NEWLINK`: on an interface that exists, changes it.
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
/// Header 16, `ifinfomsg` 16, one attribute of 4 + 4.
const LENGTH: u32 = 40;
/// The answer is a header and the error number, zero when all went well.
const ERROR_AT: std::ops::Range<usize> = 16..20;

/// Lets `packets` wait on the interface with this index in the calling thread's namespace.
///
/// Source: rtnetlink(7). The ioctl for the same asks for rights over the whole host, this one only
/// over the namespace.
pub(crate) fn set_queue_length(interface: i32, packets: u32) -> io::Result<()> {
    let socket = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkRoute,
    )?;
    send(
        socket.as_raw_fd(),
        &request(interface, packets),
        MsgFlags::empty(),
    )?;
    let mut answer = [0; 256];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    let error = answer.get(..length).and_then(|answer| answer.get(ERROR_AT));
    match error.and_then(|bytes| bytes.try_into().ok()) {
        Some(bytes) => match i32::from_ne_bytes(bytes) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        },
        None => Err(io::Error::other("the kernel's answer is too short")),
    }
}

fn request(interface: i32, packets: u32) -> Vec<u8> {
    let mut message = Vec::with_capacity(LENGTH as usize);
    // nlmsghdr: length, type, flags, sequence, sender.
    message.extend(LENGTH.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    message.extend([0; 8]);
    // ifinfomsg: family and type left open, index, no flags changed.
    message.extend([0; 4]);
    message.extend(interface.to_ne_bytes());
    message.extend([0; 8]);
    // The attribute: length, type, value.
    message.extend(8u16.to_ne_bytes());
    message.extend(IFLA_TXQLEN.to_ne_bytes());
    message.extend(packets.to_ne_bytes());
    message
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_message_is_as_long_as_it_says() {
        assert_eq!(super::request(2, 1000).len(), super::LENGTH as usize);
    }
}
