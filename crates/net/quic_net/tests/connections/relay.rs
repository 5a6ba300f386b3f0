//! A relay between a client and a server that decides over each datagram.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::SockRef;

/// What becomes of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Passes,
    IsLost,
    ComesTwice,
    /// So many others overtake it.
    ComesLater(u32),
    /// One of its bytes is another one.
    IsDamaged,
}

/// Which way a datagram goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    There,
    Back,
}

/// Decides, from the way and how many have gone it before.
pub type Decide = dyn Fn(Way, u64) -> Fate + Send + Sync;

/// A relay, until it is dropped.
pub struct Relay {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    near: UdpSocket,
    /// The server sees the client behind one of them.
    far: [UdpSocket; 2],
    used: AtomicUsize,
    client: Mutex<Option<SocketAddr>>,
    decide: Box<Decide>,
    is_cut: AtomicBool,
    is_over: AtomicBool,
}

impl Relay {
    /// To the server at `to`.
    pub fn start(
        to: SocketAddr,
        decide: impl Fn(Way, u64) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let socket = || {
            let socket = UdpSocket::bind((to.ip(), 0)).unwrap();
            let tick = Duration::from_millis(10);
            socket.set_read_timeout(Some(tick)).unwrap();
            socket
        };
        let far = [socket(), socket()];
        far.iter().for_each(|socket| socket.connect(to).unwrap());
        let shared = Arc::new(Shared {
            near: socket(),
            far,
            used: AtomicUsize::new(0),
            client: Mutex::default(),
            decide: Box::new(decide),
            is_cut: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let there = Arc::clone(&shared);
        let mut threads = vec![thread::spawn(move || there.there())];
        threads.extend([0, 1].map(|number| {
            let back = Arc::clone(&shared);
            thread::spawn(move || back.back(number))
        }));
        Relay {
            address: shared.near.local_addr().unwrap(),
            shared,
            threads,
        }
    }

    /// Nothing passes from now on, either way.
    pub fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::Relaxed);
    }

    /// What goes to the server bears the mark of a full queue (CE, RFC 3168) from now on; without
    /// this nothing that passes bears any.
    pub fn mark(&self) {
        for socket in &self.shared.far {
            let is_ipv6 = socket.local_addr().unwrap().is_ipv6();
            let marked = match (SockRef::from(socket), is_ipv6) {
                (socket, true) => socket.set_tclass_v6(0b11),
                (socket, false) => socket.set_tos_v4(0b11),
            };
            marked.unwrap();
        }
    }

    /// The server sees the client behind that one of its two addresses from now on.
    pub fn use_address(&self, number: usize) {
        self.shared.used.store(number, Ordering::Relaxed);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

impl Shared {
    fn there(&self) {
        let receive = |buffer: &mut [u8]| {
            let (length, client) = self.near.recv_from(buffer)?;
            *self.client.lock().unwrap() = Some(client);
            Ok(length)
        };
        let send = |datagram: &[u8]| {
            let far = &self.far[self.used.load(Ordering::Relaxed)];
            drop(far.send(datagram));
        };
        self.pass(Way::There, &receive, &send);
    }

    fn back(&self, number: usize) {
        let receive = |buffer: &mut [u8]| self.far[number].recv(buffer);
        let send = |datagram: &[u8]| {
            let client = *self.client.lock().unwrap();
            drop(client.map(|client| self.near.send_to(datagram, client)));
        };
        self.pass(Way::Back, &receive, &send);
    }

    fn pass(
        &self,
        way: Way,
        receive: &dyn Fn(&mut [u8]) -> io::Result<usize>,
        send: &dyn Fn(&[u8]),
    ) {
        let mut buffer = vec![0; 1 << 16];
        let mut held: Vec<(u32, Vec<u8>)> = Vec::new();
        let mut count = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            // Who waits for nothing comes at last.
            let Ok(length) = receive(&mut buffer) else {
                held.drain(..).for_each(|(_, datagram)| send(&datagram));
                continue;
            };
            if self.is_cut.load(Ordering::Relaxed) {
                continue;
            }
            let datagram = &mut buffer[..length];
            match (self.decide)(way, count) {
                Fate::Passes => send(datagram),
                Fate::IsLost => {}
                Fate::ComesTwice => [0, 1].iter().for_each(|_| send(datagram)),
                Fate::ComesLater(others) => held.push((others, datagram.to_vec())),
                Fate::IsDamaged => {
                    datagram[length / 2] ^= 0x40;
                    send(datagram);
                }
            }
            count += 1;
            held.retain_mut(|(others, datagram)| {
                if *others == 0 {
                    send(datagram);
                }
                *others = others.wrapping_sub(1);
                *others != u32::MAX
            });
        }
    }
}
