//! The thread of a connection whose ends know each other.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use copy_protocol::{Admitted, Purpose};

use super::{Handler, Shared};
use crate::conversation::Conversation;
use crate::tls::Tls;
use crate::udp_relay::round_trip;
use crate::{
    AcceptedChannel, AcceptedController, AcceptedPipe, AcceptedRemote, AcceptedSession, Channel,
    ChannelHandler, CopyHandler,
};

/// A connection whose ends know each other, before a thread serves it.
pub(super) struct Session {
    pub peer: SocketAddr,
    pub admitted: Admitted,
    pub socket: Arc<TcpStream>,
    pub tls: Box<Tls>,
}

impl Session {
    /// The thread that serves it.
    pub fn start(self, shared: &Shared) -> io::Result<JoinHandle<()>> {
        match (&shared.handler, self.admitted.purpose) {
            (Handler::Copies(handler), Purpose::Copy) => self.copy(handler, shared),
            (Handler::Copies(handler), Purpose::Remote) => self.remote(handler, shared),
            (Handler::Copies(handler), Purpose::Pipe) => self.pipe(handler, shared),
            (Handler::Copies(handler), Purpose::Grant | Purpose::Push) => {
                self.controller(handler, shared)
            }
            (Handler::Channels(handler), _) => self.channel(handler),
        }
    }

    fn copy(self, handler: &Arc<dyn CopyHandler>, shared: &Shared) -> io::Result<JoinHandle<()>> {
        let streams = shared.registry.expect(self.admitted.session_key.clone())?;
        let rtt = round_trip(&self.socket, self.peer);
        let (version, silence) = (self.admitted.version, shared.limits.silence);
        let conversation = Conversation::start(self.socket, self.tls, version, silence)?;
        let accepted = AcceptedSession {
            peer: self.peer,
            admitted: self.admitted,
            rtt,
            conversation,
            streams,
        };
        let handler = Arc::clone(handler);
        session_thread("copy", move || handler.serve(accepted))
    }

    fn remote(self, handler: &Arc<dyn CopyHandler>, shared: &Shared) -> io::Result<JoinHandle<()>> {
        self.block()?;
        let accepted = AcceptedRemote {
            peer: self.peer,
            streams: shared.registry.expect(self.admitted.session_key.clone())?,
            admitted: self.admitted,
            channel: Channel::new(self.socket, Some(self.tls)),
        };
        let handler = Arc::clone(handler);
        session_thread("remote", move || {
            if let Some(remote) = handler.remote() {
                remote.serve_remote(accepted);
            }
        })
    }

    fn controller(
        self,
        handler: &Arc<dyn CopyHandler>,
        shared: &Shared,
    ) -> io::Result<JoinHandle<()>> {
        let (version, silence) = (self.admitted.version, shared.limits.silence);
        let conversation = Conversation::start(self.socket, self.tls, version, silence)?;
        let accepted = AcceptedController {
            peer: self.peer,
            admitted: self.admitted,
            conversation,
        };
        let handler = Arc::clone(handler);
        session_thread("controller", move || {
            if let Some(third_party) = handler.third_party() {
                third_party.serve_controller(accepted);
            }
        })
    }

    fn pipe(self, handler: &Arc<dyn CopyHandler>, shared: &Shared) -> io::Result<JoinHandle<()>> {
        let streams = shared.registry.expect(self.admitted.session_key.clone())?;
        let rtt = round_trip(&self.socket, self.peer);
        let (version, silence) = (self.admitted.version, shared.limits.silence);
        let accepted = AcceptedPipe {
            peer: self.peer,
            rtt,
            conversation: Conversation::start(self.socket, self.tls, version, silence)?,
            streams,
            admitted: self.admitted,
        };
        let handler = Arc::clone(handler);
        session_thread("pipe", move || {
            if let Some(pipes) = handler.pipes() {
                pipes.serve_pipe(accepted);
            }
        })
    }

    fn channel(self, handler: &Arc<dyn ChannelHandler>) -> io::Result<JoinHandle<()>> {
        self.block()?;
        let accepted = AcceptedChannel {
            peer: self.peer,
            admitted: self.admitted,
            channel: Channel::new(self.socket, Some(self.tls)),
        };
        let handler = Arc::clone(handler);
        session_thread("channel", move || handler.serve(accepted))
    }

    /// Reads wait from now on, and nothing is held back to be sent with more.
    fn block(&self) -> io::Result<()> {
        self.socket.set_nonblocking(false)?;
        self.socket.set_nodelay(true)
    }
}

fn session_thread(name: &str, serve: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(serve)
}
