//! The pages of a watch, served over HTTP: the grid of each task, small charts of its pairs, a pair
//! over time, alone or beside another, events with their causes, single visits, monthly tables and
//! the state of every host.
//!
//! A [`WebServer`] answers from a database of `watch_store` and from what [`Live`] knows beside it.
//! Each page is HTML with SVG, made for the request; it works without scripts. Nothing is loaded
//! from another host, no cookie is set, and nothing is written but notes and silences, by those who
//! know the token. What a client may ask for is bounded: connections, the length of a body, the
//! range of a page, the rows of a stream.
//!
//! A [`PageServer`] serves one page that is no part of a watch, live, too.
//!
//! Left out: TLS and users. Put a proxy with both in front where the pages leave the site.
//!
//! Reading order: `live.rs` for what the pages show beside the database, `site.rs`, `server.rs`,
//! `routes.rs`, `listener.rs` and `stores.rs` for how a request is answered, `ask.rs`, `range.rs`
//! and `href.rs` for addresses, `problem.rs` for errors, `frame.rs` and `follow.rs` for what all
//! pages share; then the pages in `page/`, and `page_server.rs`.

mod ask;
mod calendar;
mod figure;
mod follow;
mod frame;
mod href;
mod listener;
mod live;
mod page;
mod page_server;
mod problem;
mod range;
mod requests;
mod routes;
mod server;
mod site;
mod stores;
mod words;

pub use calendar::minute;
pub use live::{AgentState, HeldSilence, Live, SilenceRequest};
pub use page::traffic::blocks as traffic_blocks;
pub use page_server::{MakePage, PageServer};
pub use server::{WebError, WebOptions, WebServer};
