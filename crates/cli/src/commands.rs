//! One file per command.

pub(crate) mod demo;
pub(crate) mod emulate;
pub(crate) mod history;
pub(crate) mod measure;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod simulate;
pub(crate) mod study;
pub(crate) mod sweep;
pub(crate) mod tune;
