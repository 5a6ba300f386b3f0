//! Files against their checksums.

use std::path::PathBuf;

use pyo3::prelude::*;
use trunkline::ask::verify::algorithm;
use trunkline::verify::{Found, VerifyRequest, told};

use crate::asked::optional;
use crate::call::Call;
use crate::error::Failure;
use crate::event::Progress;
use crate::result::Done;

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Verify {
    list: PathBuf,
    folder: Option<PathBuf>,
    algorithm: Option<String>,
    command: String,
}

/// Starts a verification.
#[pyfunction]
pub fn start_verify(asked: Verify) -> PyResult<Call> {
    let request = VerifyRequest {
        list: asked.list,
        folder: asked.folder,
        algorithm: optional("algorithm", asked.algorithm.as_deref(), algorithm)?,
    };
    Call::start("verify", asked.command, move |cancel, tell| {
        let verified = trunkline::verify(&request, cancel, &mut |found| {
            tell.tell(match found {
                Found::Trouble(trouble) => Progress {
                    name: Some(trouble.name.clone()),
                    ..Progress::words("trouble", told::trouble(trouble).trim_end())
                },
                Found::Progress(account) => Progress {
                    number: Some(account.right),
                    bytes: Some(account.bytes),
                    ..Progress::words("verifying", told::progress(account))
                },
            });
        })?;
        let json = serde_json::to_string(&verified);
        let json = json.map_err(|error| Failure::bug(&error.to_string()))?;
        let failure = (!verified.is_right()).then(|| {
            let (what, hint) = told::not_right(&verified);
            let hint = hint.unwrap_or_else(|| "`partial.troubles` says why".to_owned());
            Failure::request(what, hint).of_kind("Mismatch")
        });
        Ok(Done::default().telling(json).cut(failure))
    })
}
