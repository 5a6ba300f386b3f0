//! A test that was proposed to the server, until its streams run.

use std::net::SocketAddr;

use copy_net::Channel;
use measure_protocol::{Answer, ClientAction, Cookie, Offer, TestEnd, TestRequest};
use observe::{Amount, Peer, RunObserver, SamplePlan, Setting, Then, Transport, Window};
use sockets::FarEnd;
use sockets::options::StreamOptions;
use sockets::random;
use units::{Bytes, Via};

use super::connect::{self, Opened, Opening};
use super::conversation::Conversation;
use super::flow::Flow;
use super::login::token;
use super::test::Test;
use super::{Client, ClientError};

/// A test on its way to being run.
#[derive(Debug)]
pub(super) struct Proposal {
    conversation: Conversation,
    peer: SocketAddr,
    cookie: Cookie,
    options: StreamOptions,
    request: TestRequest,
}

impl Proposal {
    /// Connects to the server and proposes `streams` streams of this setting.
    pub(super) fn make(
        client: &Client,
        setting: &Setting,
        streams: u16,
        plan: &SamplePlan,
        watch: &dyn RunObserver,
    ) -> Result<Self, ClientError> {
        if let Some(option) = setting.only_of_tcp() {
            return Err(ClientError::OnlyOfTcp { option });
        }
        if setting.transport == Transport::Udp && client.address.via.dscp.is_some() {
            return Err(ClientError::Unmarked);
        }
        if client.address.via.multipath {
            check_multipath(&client.address.via, setting)?;
        }
        let (control, peer) = connect::control(&client.address, setting.transport, watch)?;
        let cookie = Cookie::from_random(&random::bytes()?);
        let request = TestRequest {
            dscp: client.address.via.dscp,
            token: token(client.login.as_ref())?,
            ..request(setting, streams, plan)
        };
        let address = client.address.clone();
        Ok(Proposal {
            conversation: Conversation::begin(address, control, cookie, request.clone()),
            peer,
            cookie,
            options: options(client, setting),
            request,
        })
    }

    /// Waits until the server wants the streams.
    pub(super) fn until_accepted(&mut self, watch: &dyn RunObserver) -> Result<(), ClientError> {
        let is_open = |action: &_| matches!(action, ClientAction::OpenStreams(_));
        while !is_open(&self.conversation.await_action(watch)?) {}
        match self.answer() {
            _ if !self.request.is_over_udp() => Ok(()),
            Some(answer) if answer.udp => Ok(()),
            Some(_) => Err(self.no_udp(Peer::Trunkline)),
            None => Err(self.no_udp(Peer::Iperf3)),
        }
    }

    fn no_udp(&self, server: Peer) -> ClientError {
        ClientError::NoUdp {
            address: self.conversation.address().clone(),
            server,
        }
    }

    /// The server.
    pub(super) fn far_end(&self) -> FarEnd {
        FarEnd {
            address: self.peer,
            via: self.options.via.clone(),
        }
    }

    /// What the server said of itself, when it is one of ours.
    pub(super) fn answer(&self) -> Option<Answer> {
        self.conversation.answer()
    }

    /// Opens the streams, and lets data flow when the server says so.
    pub(super) fn start(
        mut self,
        plan: &SamplePlan,
        watch: &dyn RunObserver,
    ) -> Result<Test, ClientError> {
        let channels = self.open_streams(watch)?;
        self.conversation.on_streams_open();
        while self.conversation.await_action(watch)? != ClientAction::Start {}
        let flow = Flow::start(channels, &self.request, &self.options, budget(plan.amount))?;
        Ok(Test {
            conversation: self.conversation,
            flow,
        })
    }

    fn open_streams(&mut self, watch: &dyn RunObserver) -> Result<Vec<Channel>, ClientError> {
        let opening = Opening {
            peer: self.peer,
            cookie: &self.cookie,
            options: &self.options,
            total: self.request.client_streams().total(),
            watch,
        };
        let opened = match self.conversation.answer() {
            _ if self.request.is_over_udp() => Opened::OverUdp,
            Some(_) => Opened::AtOnce,
            None => Opened::InOrder,
        };
        let opened = opening.streams(opened);
        opened.map_err(|error| self.conversation.ask_why(error))
    }
}

/// What the kernel does not do for connections of multipath TCP (`net/mptcp/sockopt.c`).
fn check_multipath(via: &Via, setting: &Setting) -> Result<(), ClientError> {
    let (option, why) = match setting {
        Setting {
            transport: Transport::Udp,
            ..
        } => ("--transport udp", "multipath TCP is TCP"),
        Setting {
            pacing: Some(_), ..
        } => ("--pacing", "Linux does not pace multipath TCP"),
        _ if via.source.device.is_some() => {
            ("--bind %DEVICE", "all subflows would leave by that device")
        }
        _ if via.dscp.is_some() => ("--dscp", "Linux does not mark all packets of multipath TCP"),
        _ => return Ok(()),
    };
    Err(ClientError::NotOverMultipath { option, why })
}

/// Whether streams are to go on after a run of this plan: only time can end a part of a test.
pub(super) fn goes_on(plan: &SamplePlan) -> bool {
    plan.then == Then::KeepRunning && matches!(plan.amount, Amount::Time(_))
}

/// A foreign server, and one that does not agree to a lasting test, ends it with its time.
fn request(setting: &Setting, streams: u16, plan: &SamplePlan) -> TestRequest {
    let end = match plan.amount {
        Amount::Time(length) => TestEnd::After(length),
        Amount::Bytes(bytes) => TestEnd::Bytes(bytes),
    };
    TestRequest {
        direction: setting.direction,
        window: window(setting),
        segment: segment(setting),
        congestion: setting.congestion.clone(),
        pacing: setting.pacing,
        offer: Some(Offer {
            lasting: goes_on(plan),
            udp: setting.transport == Transport::Udp,
            ..Offer::default()
        }),
        ..TestRequest::new(streams, end)
    }
}

fn options(client: &Client, setting: &Setting) -> StreamOptions {
    StreamOptions {
        window: window(setting),
        via: client.address.via.clone(),
        limit: client.limit,
        congestion: setting.congestion.clone(),
        pacing: setting.pacing,
        segment: segment(setting),
        ..StreamOptions::default()
    }
}

fn window(setting: &Setting) -> Option<Bytes> {
    match setting.window {
        Window::Auto => None,
        Window::Fixed(bytes) => Some(bytes),
    }
}

fn segment(setting: &Setting) -> Option<Bytes> {
    setting.mss.map(|mss| Bytes::new(mss.into()))
}

fn budget(amount: Amount) -> Option<Bytes> {
    match amount {
        Amount::Time(_) => None,
        Amount::Bytes(bytes) => Some(bytes),
    }
}
