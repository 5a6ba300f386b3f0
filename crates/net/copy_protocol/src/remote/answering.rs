//! The far end of one connection: which requests are legal.

use super::{Ask, NewFile, READ_MAX, RemoteViolation, Request, STORE_MAX};

/// Files have no bytes beyond this, `off_t`.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// Checks the requests of one connection.
#[derive(Debug, Default)]
pub struct Answering {
    last: u32,
}

impl Answering {
    /// Takes the next request.
    ///
    /// # Errors
    /// When it breaks the rules; the connection ends with that.
    pub fn on_request(&mut self, request: &Request) -> Result<(), RemoteViolation> {
        let wanted = self.last.checked_add(1);
        if wanted != Some(request.id) {
            return Err(RemoteViolation::RequestNumber {
                wanted,
                came: request.id,
            });
        }
        self.last = request.id;
        match request.ask {
            Ask::Read { offset, length, .. } => range(offset, length),
            Ask::Store(NewFile { length, .. }) if length > STORE_MAX => {
                Err(RemoteViolation::TooLong(length))
            }
            _ => Ok(()),
        }
    }
}

fn range(offset: u64, length: u32) -> Result<(), RemoteViolation> {
    let end = offset.checked_add(u64::from(length));
    match end {
        Some(end) if end <= OFFSET_MAX && length <= READ_MAX => Ok(()),
        _ => Err(RemoteViolation::Range { offset, length }),
    }
}
