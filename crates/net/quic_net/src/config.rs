//! Settings of connections.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, EndpointConfig, IdleTimeout, MtuDiscoveryConfig,
    ServerConfig, TransportConfig, VarInt,
};

use units::Bytes;

use crate::controller::{Factory, PathState};
use crate::qlog::next_qlog;

/// A connection of which nothing is heard for so long is over.
const IDLE_MAX: u32 = 30_000;
/// So often something is said where there is nothing to say, so that network address translators
/// on the way keep the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// What the peer may send ahead before it has shown that it belongs here.
pub(crate) const WINDOW_STRANGER: u32 = 128 << 10;
/// And after that, until the path's need is known.
pub(crate) const WINDOW_FIRST: u64 = 16 << 20;
/// And at most: twice 10 Gbit/s for 100 ms.
pub(crate) const WINDOW_MAX: u64 = WINDOW_MOST.get();
/// The same for those who bound it.
pub const WINDOW_MOST: Bytes = Bytes::from_mib(256);

/// Packets between two acknowledgements, once the peer was asked. Each costs both ends as much as a
/// packet of data; the path model needs some forty in a round trip.
const ACK_EVERY: u32 = 10;

/// The protocol's name in TLS, so that a stranger's HTTP/3 is refused.
const PROTOCOL: &[u8] = b"trunkline";

/// Smallest packet that every path carries (RFC 9000, section 14).
const PACKET_MIN: u16 = 1200;

/// For the end that connects.
///
/// * `packet_max`: bytes of UDP payload that the route here takes.
pub(crate) fn client(
    mut tls: rustls::ClientConfig,
    packet_max: u16,
    path: &Arc<PathState>,
) -> io::Result<ClientConfig> {
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    let crypto = QuicClientConfig::try_from(tls).map_err(io::Error::other)?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    let mut transport = transport(packet_max, path);
    transport
        .receive_window(VarInt::from_u32(WINDOW_FIRST as u32))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .keep_alive_interval(Some(KEEP_ALIVE));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// For a server, before it knows who connects.
pub(crate) fn server(mut tls: rustls::ServerConfig) -> io::Result<ServerConfig> {
    tls.alpn_protocols = vec![PROTOCOL.to_vec()];
    let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.migration(false);
    config.validation_token.sent(0);
    Ok(config)
}

/// For one connection of a server.
pub(crate) fn accepted(
    server: &ServerConfig,
    packet_max: u16,
    path: &Arc<PathState>,
) -> ServerConfig {
    let mut config = server.clone();
    let mut transport = transport(packet_max, path);
    transport
        .receive_window(VarInt::from_u32(WINDOW_STRANGER))
        .max_concurrent_bidi_streams(VarInt::from_u32(1));
    config.transport_config(Arc::new(transport));
    config
}

/// For an endpoint.
pub(crate) fn endpoint() -> Arc<EndpointConfig> {
    Arc::new(EndpointConfig::default())
}

fn transport(packet_max: u16, path: &Arc<PathState>) -> TransportConfig {
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(ACK_EVERY));
    let mut mtu = MtuDiscoveryConfig::default();
    mtu.upper_bound(packet_max.max(PACKET_MIN));
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(IDLE_MAX))))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(WINDOW_MAX as u32))
        .send_window(WINDOW_FIRST)
        .datagram_receive_buffer_size(None)
        .ack_frequency_config(Some(acks))
        .mtu_discovery_config(Some(mtu))
        .congestion_controller_factory(Arc::new(Factory(Arc::clone(path))))
        .qlog_stream(next_qlog());
    config
}
