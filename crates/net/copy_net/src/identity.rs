//! The certificate of an end that listens, and the TLS settings that follow from it.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::server::NoServerSessionStorage;
use rustls::{
    ClientConfig, ClientConnection, ServerConfig, ServerConnection, SupportedCipherSuite,
};

use super::certificate::Verifier;
use super::fingerprint::Fingerprint;

/// Name in the certificate, unused: the far end is known by its secret.
const NAME: &str = "trunkline";

/// A key pair with a certificate that it signed itself, made for one program run. The secret of a
/// copy vouches for it, so no authority is needed and nothing is kept on disk.
#[derive(Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    fingerprint: Fingerprint,
}

impl Identity {
    /// Makes a new one.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn generate() -> io::Result<Self> {
        let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()]);
        let made = made.map_err(io::Error::other)?;
        let certificate = made.cert.der().clone();
        let fingerprint = Fingerprint::of(&certificate);
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .map_err(io::Error::other)?;
        // Every connection is bound to its own handshake; tickets would be memory for nothing.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Identity {
            config: Arc::new(config),
            fingerprint,
        })
    }

    /// What an end that connects can know it by.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The TLS settings of the listening side.
    pub(super) fn settings(&self) -> ServerConfig {
        ServerConfig::clone(&self.config)
    }

    /// The listening side of a new connection over TCP.
    pub(super) fn connection(&self) -> io::Result<rustls::Connection> {
        let connection = ServerConnection::new(Arc::clone(&self.config));
        connection.map(Into::into).map_err(io::Error::other)
    }
}

/// The TLS settings of the connecting side, to any certificate or to the one with that fingerprint.
pub(super) fn settings_to(pin: Option<Fingerprint>) -> io::Result<ClientConfig> {
    let verifier = Verifier {
        pin,
        provider: provider(),
    };
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.enable_sni = false;
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// The connecting side of a new connection over TCP.
pub(super) fn connection_to(pin: Option<Fingerprint>) -> io::Result<rustls::Connection> {
    let config = settings_to(pin)?;
    let name = ServerName::try_from(NAME).map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name);
    connection.map(Into::into).map_err(io::Error::other)
}

/// TLS 1.3's cipher suites in the order of their speed here, and one key exchange: both ends are
/// ours.
fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    let made = || {
        let mut provider = ring::default_provider();
        provider.cipher_suites = suites();
        provider.kx_groups = vec![ring::kx_group::X25519];
        Arc::new(provider)
    };
    Arc::clone(PROVIDER.get_or_init(made))
}

/// The connecting end's order decides. Without instructions for AES, ChaCha20 is several times as
/// fast; with them, half (the crate page has the figures).
fn suites() -> Vec<SupportedCipherSuite> {
    use ring::cipher_suite::{TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256};
    match has_aes() {
        true => vec![TLS13_AES_128_GCM_SHA256, TLS13_CHACHA20_POLY1305_SHA256],
        false => vec![TLS13_CHACHA20_POLY1305_SHA256, TLS13_AES_128_GCM_SHA256],
    }
}

#[cfg(target_arch = "x86_64")]
fn has_aes() -> bool {
    std::is_x86_feature_detected!("aes") && std::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn has_aes() -> bool {
    false
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({:?})", self.fingerprint)
    }
}
