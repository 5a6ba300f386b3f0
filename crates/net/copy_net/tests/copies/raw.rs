//! TLS without manners: ends that say what they like, and a machine in the middle.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use copy_protocol::{EXPORTER_LABEL, Exporter};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, ServerConfig, ServerConnection,
    SignatureScheme, StreamOwned,
};

/// A client that takes any certificate.
pub type Raw = StreamOwned<ClientConnection, TcpStream>;

#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        unreachable!("TLS 1.3 alone is spoken")
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Connected, TLS's handshake done, nothing said.
pub fn connect(to: SocketAddr) -> Raw {
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider())))
        .with_no_client_auth();
    let name = ServerName::try_from("anybody").unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(to).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).unwrap();
    }
    StreamOwned::new(connection, socket)
}

pub fn exporter(raw: &Raw) -> Exporter {
    let made = raw
        .conn
        .export_keying_material([0; 32], EXPORTER_LABEL, None);
    made.unwrap()
}

/// One frame with its length.
pub fn frame(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    from.read_exact(&mut bytes)?;
    let length = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    bytes.resize(4 + length as usize, 0);
    from.read_exact(&mut bytes[4..])?;
    Ok(bytes)
}

/// A machine in the middle that answers in place of `far`, with a certificate of its own, and
/// forwards one frame each way.
pub fn middle(far: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
    let made = rcgen::generate_simple_self_signed(vec!["trunkline".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind((testkit::loopback(), 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let passing_on = move || {
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut near = StreamOwned::new(connection, listener.accept().unwrap().0);
        let mut far = connect(far);
        far.write_all(&frame(&mut near).unwrap()).unwrap();
        near.write_all(&frame(&mut far).unwrap()).unwrap();
        near.flush().unwrap();
        let _ = near.read(&mut [0]);
    };
    (address, thread::spawn(passing_on))
}
