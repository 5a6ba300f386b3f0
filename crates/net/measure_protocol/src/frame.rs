//! Messages: a length in four bytes, most significant first, then JSON or what a protocol encodes.

use thiserror::Error;

/// A length prefix that cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The peer announced nothing.
    #[error("the peer announced a JSON message of 0 bytes")]
    Empty,
    /// The peer announced more than we read.
    #[error("{}", too_long("a JSON message", *length, *bound))]
    TooLong {
        /// What was announced, in bytes.
        length: u32,
        /// What is accepted, in bytes.
        bound: u32,
    },
}

/// A web server begins with `HTTP`, which is not meant as a length.
pub fn too_long(what: &str, length: u32, bound: u32) -> String {
    match &length.to_be_bytes() {
        b"HTTP" | b"<htm" | b"<HTM" | b"<!do" | b"<!DO" => "a web server answers there".to_owned(),
        _ => format!("the peer announced {what} of {length} bytes; at most {bound} are read"),
    }
}

/// Puts the length before `json`, as one buffer so that it leaves in one write.
///
/// ```
/// assert_eq!(measure_protocol::encode_frame(b"{}"), [0, 0, 0, 2, b'{', b'}']);
/// ```
pub fn encode_frame(json: &[u8]) -> Vec<u8> {
    let length = u32::try_from(json.len());
    let length = length.expect("our own messages stay under 4 GiB");
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend_from_slice(json);
    frame
}

/// Collects one message from bytes that may be split anywhere.
#[derive(Debug)]
pub struct FrameReader {
    bound: u32,
    prefix: Vec<u8>,
    body: Vec<u8>,
}

impl FrameReader {
    /// A reader for one message of at most `bound` bytes.
    pub fn new(bound: u32) -> Self {
        FrameReader {
            bound,
            prefix: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Takes what it needs from the front of `input`; the whole message once it is complete.
    ///
    /// Memory grows with what arrived, never with what was announced.
    pub fn feed(&mut self, input: &mut &[u8]) -> Result<Option<Vec<u8>>, FrameError> {
        take(input, &mut self.prefix, 4);
        let Ok(prefix) = <[u8; 4]>::try_from(self.prefix.as_slice()) else {
            return Ok(None);
        };
        let length = self.check(u32::from_be_bytes(prefix))?;
        take(input, &mut self.body, length);
        Ok((self.body.len() == length).then(|| std::mem::take(&mut self.body)))
    }

    /// Whether some of a message has come.
    pub fn has_begun(&self) -> bool {
        !self.prefix.is_empty()
    }

    fn check(&self, length: u32) -> Result<usize, FrameError> {
        match length {
            0 => Err(FrameError::Empty),
            length if length > self.bound => Err(FrameError::TooLong {
                length,
                bound: self.bound,
            }),
            length => Ok(length as usize),
        }
    }
}

/// Moves bytes from the front of `input` until `into` holds `wanted`.
pub fn take(input: &mut &[u8], into: &mut Vec<u8>, wanted: usize) {
    let missing = wanted.saturating_sub(into.len());
    let (head, tail) = input.split_at(missing.min(input.len()));
    into.extend_from_slice(head);
    *input = tail;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_split_anywhere_arrives_whole() {
        let frame = encode_frame(b"{\"a\":1}");
        for split in 0..frame.len() {
            let (mut first, mut second) = frame.split_at(split);
            let mut reader = FrameReader::new(100);
            assert_eq!(reader.feed(&mut first), Ok(None), "split at {split}");
            assert_eq!(reader.feed(&mut second), Ok(Some(b"{\"a\":1}".to_vec())));
        }
    }

    #[test]
    fn what_follows_is_left_alone() {
        let mut bytes = encode_frame(b"{}");
        bytes.extend_from_slice(&[14, 2]);
        let mut input = bytes.as_slice();
        assert!(FrameReader::new(2).feed(&mut input).unwrap().is_some());
        assert_eq!(input, [14, 2]);
    }

    #[test]
    fn a_web_server_is_named_in_place_of_a_length() {
        let error = FrameReader::new(8_192).feed(&mut &b"HTTP/1.1"[..]);
        let error = error.unwrap_err();
        assert_eq!(error.to_string(), "a web server answers there");
    }

    #[test]
    fn a_length_over_the_bound_is_refused_before_the_body() {
        let mut reader = FrameReader::new(8_192);
        let mut input: &[u8] = &[0x7F, 0xFF, 0xFF, 0xFF];
        let error = reader.feed(&mut input).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the peer announced a JSON message of 2147483647 bytes; at most 8192 are read"
        );
    }

    #[test]
    fn a_length_of_zero_is_refused() {
        let mut input: &[u8] = &[0; 4];
        assert_eq!(FrameReader::new(9).feed(&mut input), Err(FrameError::Empty));
    }
}
