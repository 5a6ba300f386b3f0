//! Which checksums there are.

use std::fmt;

/// A checksum or hash of what is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// BLAKE3, 32 bytes, as `b3sum` has it.
    Blake3,
    /// SHA-512 of FIPS 180-4.
    Sha512,
    /// SHA-384 of FIPS 180-4.
    Sha384,
    /// SHA-256 of FIPS 180-4.
    Sha256,
    /// SHA-224 of FIPS 180-4.
    Sha224,
    /// SHA-1 of FIPS 180-4.
    Sha1,
    /// MD5 of RFC 1321.
    Md5,
    /// CRC-32C (Castagnoli) of RFC 9260.
    Crc32c,
    /// The CRC-32 of zip, gzip and Ethernet.
    Crc32,
    /// Adler-32 of RFC 1950.
    Adler32,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 10] = [
        Algorithm::Blake3,
        Algorithm::Sha512,
        Algorithm::Sha384,
        Algorithm::Sha256,
        Algorithm::Sha224,
        Algorithm::Sha1,
        Algorithm::Md5,
        Algorithm::Crc32c,
        Algorithm::Crc32,
        Algorithm::Adler32,
    ];

    /// As options and documents name it, and as a BagIt manifest has it in its own name.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Blake3 => "blake3",
            Algorithm::Sha512 => "sha512",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha224 => "sha224",
            Algorithm::Sha1 => "sha1",
            Algorithm::Md5 => "md5",
            Algorithm::Crc32c => "crc32c",
            Algorithm::Crc32 => "crc32",
            Algorithm::Adler32 => "adler32",
        }
    }

    /// Bytes of a digest; two hexadecimal digits for each.
    pub fn length(self) -> usize {
        match self {
            Algorithm::Sha512 => 64,
            Algorithm::Sha384 => 48,
            Algorithm::Blake3 | Algorithm::Sha256 => 32,
            Algorithm::Sha224 => 28,
            Algorithm::Sha1 => 20,
            Algorithm::Md5 => 16,
            Algorithm::Crc32c | Algorithm::Crc32 | Algorithm::Adler32 => 4,
        }
    }

    /// The one of this name, as people, tags of lists and names of manifests write it.
    ///
    /// ```
    /// use files::checksums::Algorithm;
    /// assert_eq!(Algorithm::named("SHA-256"), Some(Algorithm::Sha256));
    /// assert_eq!(Algorithm::named("crc32_c"), Some(Algorithm::Crc32c));
    /// assert_eq!(Algorithm::named("SHA2-256"), Some(Algorithm::Sha256));
    /// assert_eq!(Algorithm::named("SHA3-256"), None);
    /// ```
    pub fn named(name: &str) -> Option<Algorithm> {
        let lower = name.to_ascii_lowercase();
        // As OpenSSL 3 names them.
        let digits = lower.strip_prefix("sha2-");
        let digits = digits.filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let plain = match digits {
            Some(digits) => format!("sha{digits}"),
            None => lower.replace(['-', '_'], ""),
        };
        Algorithm::ALL.into_iter().find(|one| one.name() == plain)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_programs_write_them() {
        for one in Algorithm::ALL {
            assert_eq!(Algorithm::named(one.name()), Some(one));
        }
        assert_eq!(Algorithm::named("SHA2-256"), Some(Algorithm::Sha256));
        assert_eq!(Algorithm::named("sha2-512"), Some(Algorithm::Sha512));
        assert_eq!(Algorithm::named("SHA-1"), Some(Algorithm::Sha1));
        for other in [
            "SHA2-512/256",
            "SHA2-",
            "SHA2-2-24",
            "SHA3-256",
            "HMAC-SHA2-256",
        ] {
            assert_eq!(Algorithm::named(other), None, "{other}");
        }
    }
}
