//! One checksum, computed while a file is read.

use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::Algorithm;

/// A checksum that is being computed.
pub(super) enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Sha512(Sha512),
    Sha384(Sha384),
    Sha256(Sha256),
    Sha224(Sha224),
    Sha1(Sha1),
    Md5(md5::Md5),
    Crc32c(u32),
    Crc32(crc32fast::Hasher),
    Adler32(simd_adler32::Adler32),
}

/// A checksum of bytes that come one after the other.
pub struct Checksum(Hasher);

impl Checksum {
    /// Of nothing yet.
    pub fn new(algorithm: Algorithm) -> Self {
        Checksum(Hasher::new(algorithm))
    }

    /// Further bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Of all of them.
    pub fn finish(self) -> Vec<u8> {
        self.0.finish()
    }
}

impl Hasher {
    pub fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Blake3 => Hasher::Blake3(Box::default()),
            Algorithm::Sha512 => Hasher::Sha512(Sha512::new()),
            Algorithm::Sha384 => Hasher::Sha384(Sha384::new()),
            Algorithm::Sha256 => Hasher::Sha256(Sha256::new()),
            Algorithm::Sha224 => Hasher::Sha224(Sha224::new()),
            Algorithm::Sha1 => Hasher::Sha1(Sha1::new()),
            Algorithm::Md5 => Hasher::Md5(md5::Md5::new()),
            Algorithm::Crc32c => Hasher::Crc32c(0),
            Algorithm::Crc32 => Hasher::Crc32(crc32fast::Hasher::new()),
            Algorithm::Adler32 => Hasher::Adler32(simd_adler32::Adler32::new()),
        }
    }

    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Blake3(hasher) => {
                hasher.update(bytes);
            }
            Hasher::Sha512(hasher) => hasher.update(bytes),
            Hasher::Sha384(hasher) => hasher.update(bytes),
            Hasher::Sha256(hasher) => hasher.update(bytes),
            Hasher::Sha224(hasher) => hasher.update(bytes),
            Hasher::Sha1(hasher) => hasher.update(bytes),
            Hasher::Md5(hasher) => hasher.update(bytes),
            Hasher::Crc32c(sum) => *sum = crc32c::crc32c_append(*sum, bytes),
            Hasher::Crc32(hasher) => hasher.update(bytes),
            Hasher::Adler32(hasher) => hasher.write(bytes),
        }
    }

    /// The digest; sums of 32 bits with their highest byte first, as lists have them.
    pub fn finish(self) -> Vec<u8> {
        match self {
            Hasher::Blake3(hasher) => hasher.finalize().as_bytes().to_vec(),
            Hasher::Sha512(hasher) => hasher.finalize().to_vec(),
            Hasher::Sha384(hasher) => hasher.finalize().to_vec(),
            Hasher::Sha256(hasher) => hasher.finalize().to_vec(),
            Hasher::Sha224(hasher) => hasher.finalize().to_vec(),
            Hasher::Sha1(hasher) => hasher.finalize().to_vec(),
            Hasher::Md5(hasher) => hasher.finalize().to_vec(),
            Hasher::Crc32c(sum) => sum.to_be_bytes().to_vec(),
            Hasher::Crc32(hasher) => hasher.finalize().to_be_bytes().to_vec(),
            Hasher::Adler32(hasher) => hasher.finish().to_be_bytes().to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the standards: FIPS 180-4 examples and RFC 1321 for `abc`, the CRC
    /// catalogue (RevEng) for `123456789`, Python's `zlib.adler32`.
    #[test]
    fn each_sum_is_what_its_standard_says() {
        let cases = [
            (
                Algorithm::Sha1,
                "abc",
                "a9993e364706816aba3e25717850c26c9cd0d89d",
            ),
            (Algorithm::Md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
            (
                Algorithm::Sha256,
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                Algorithm::Sha224,
                "abc",
                "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
            ),
            (
                Algorithm::Blake3,
                "",
                "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
            ),
            (Algorithm::Crc32c, "123456789", "e3069283"),
            (Algorithm::Crc32, "123456789", "cbf43926"),
            (Algorithm::Adler32, "123456789", "091e01de"),
        ];
        for (algorithm, text, expected) in cases {
            let mut hasher = Hasher::new(algorithm);
            for byte in text.as_bytes().chunks(2) {
                hasher.update(byte);
            }
            let digest = hasher.finish();
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected, "{algorithm}");
            assert_eq!(digest.len(), algorithm.length());
        }
        for algorithm in Algorithm::ALL {
            assert_eq!(Hasher::new(algorithm).finish().len(), algorithm.length());
        }
    }
}
