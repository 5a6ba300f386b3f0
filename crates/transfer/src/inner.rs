//! Simple parts that stand behind the engine.

pub(crate) mod net;
pub(crate) mod queue;
pub(crate) mod source;
pub(crate) mod store;
