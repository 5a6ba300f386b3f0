//! Who may write.

use axum::http::{HeaderMap, header};

use crate::ask::Ask;
use crate::problem::Problem;
use crate::server::Site;

impl Site {
    /// Whether the token is there, in the header `Authorization: Bearer` or in the form.
    pub fn check_token(&self, headers: &HeaderMap, form: &Ask) -> Result<(), Problem> {
        let Some(token) = &self.token else {
            let hint = "start the server with a token to allow it";
            return Err(Problem::forbidden("this server only reads", hint));
        };
        let header = headers.get(header::AUTHORIZATION);
        let header = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let given = header.or(form.text("token")).unwrap_or_default();
        // Hashes of BLAKE3 are compared in constant time.
        match blake3::hash(given.as_bytes()) == blake3::hash(token.as_bytes()) {
            true => Ok(()),
            false => {
                let hint = "give the server's token in the form, or as `Authorization: Bearer`";
                Err(Problem::forbidden(
                    "the token is missing or another one",
                    hint,
                ))
            }
        }
    }
}
