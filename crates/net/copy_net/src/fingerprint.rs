//! By what a near end knows the certificate of the far one.

use std::fmt;

use rustls::pki_types::CertificateDer;

/// BLAKE3 of a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Self {
        Fingerprint(*blake3::hash(certificate).as_bytes())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({})", blake3::Hash::from_bytes(self.0))
    }
}
