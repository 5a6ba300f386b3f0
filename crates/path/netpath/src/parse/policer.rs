//! The policer in front of a link.

use units::{Bytes, Rate};

use super::{RATE_MAX, RATE_MIN, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::Policer;

const BUCKET_MAX: Bytes = Bytes::from_mib(1024);

/// The policer of a link on which packets have at most `mtu` bytes.
pub(super) fn policer(section: &Section, mtu: u16) -> Result<Policer, PathError> {
    section.only(&["rate", "bucket"])?;
    let rate = section.required::<Rate>("rate", "add `rate = \"20Mbit/s\"`")?;
    let hint = "add the largest burst that passes, `bucket = \"100kB\"`";
    let bucket = section.required("bucket", hint)?;
    let hint = "one packet has to fit in";
    Ok(Policer {
        rate: within(rate, RATE_MIN..=RATE_MAX, "a rate", "check its unit")?,
        bucket: within(
            bucket,
            Bytes::new(mtu.into())..=BUCKET_MAX,
            "a bucket",
            hint,
        )?,
    })
}
