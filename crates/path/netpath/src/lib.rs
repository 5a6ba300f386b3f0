//! The description of a path: TOML in, checked value out.
//!
//! A path is links in a row, mostly one, each way; the hosts at their ends; and the traffic that
//! shares them. The same value drives every way of running it. A wrong file is refused where it is
//! wrong, with what was written, what would be accepted and what to do; no field is filled in
//! without saying so.
//!
//! What a path cannot say, and so no run of it shows: routes that change or differ from packet to
//! packet.
//!
//! Reading order: [`spec`] for the value, `section.rs` for how fields are read, `parse.rs` for the
//! checks, [`presets`] for the named paths.

mod error;
#[cfg(test)]
mod mutation;
mod parse;
pub mod presets;
mod section;
pub mod spec;

pub use error::PathError;
pub use spec::{
    Arrivals, BufferMaxima, Class, CoDelSpec, Cross, CrossTraffic, Cut, DrawnRate, Duplex, Extra,
    Hosts, LinkSpec, Load, Loss, PacketShare, PathSpec, Policer, QueueLimit, QueueSpec, RedSpec,
    Reorder, Thresholds, Trace, UnknownArrivals, UnknownClass, Variation, Way, WredSpec,
};

use std::fs;

impl PathSpec {
    /// Loads a path by a preset's name, or else from a file.
    ///
    /// # Errors
    /// When the name is neither, or the file is wrong.
    pub fn load(name_or_file: &str) -> Result<PathSpec, PathError> {
        if let Some(text) = presets::text(name_or_file) {
            return parse::parse(name_or_file, &format!("paths/{name_or_file}.toml"), text);
        }
        let text = fs::read_to_string(name_or_file).map_err(|source| PathError::Unreadable {
            name: name_or_file.to_owned(),
            presets: presets::names().collect::<Vec<_>>().join(", "),
            source,
        })?;
        let stem = std::path::Path::new(name_or_file).file_stem();
        let name = stem.map_or(name_or_file.into(), |stem| stem.to_string_lossy());
        parse::parse(&name, name_or_file, &text)
    }

    /// Reads a path from TOML; `origin` names the text in messages.
    ///
    /// ```
    /// let text = r#"
    ///     [forward]
    ///     rate = "50Mbit/s"
    ///     delay = "10ms"
    ///     queue = { kind = "drop-tail", limit = "125kB" }
    /// "#;
    /// let path = netpath::PathSpec::from_toml("example", text).unwrap();
    /// assert_eq!(path.base_rtt().to_string(), "20ms");
    /// assert_eq!(path.bandwidth_delay_product().get(), 125_000);
    /// ```
    ///
    /// A trace that the text names is read from the folder of `origin`.
    ///
    /// # Errors
    /// When the text is not a valid path.
    pub fn from_toml(origin: &str, text: &str) -> Result<PathSpec, PathError> {
        parse::parse(origin, origin, text)
    }
}
