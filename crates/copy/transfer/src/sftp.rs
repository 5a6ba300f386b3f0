//! Copies where nothing of ours may run at the far end: its SFTP server is the far end.
//!
//! This end does what otherwise both do. It lists what there is on both sides, has several
//! connections with many requests on the way, divides large files among them, and names each file
//! once it is whole. What arrives here is stored as by any copy; what goes there lies under a
//! temporary name until it is whole, and what of it is on that disk is noted here.
//!
//! Left out, since no program runs there: compressing, holes, checks of what is read there. A
//! changed far file is known by its size and whole seconds alone.
//!
//! Reading order: `run` and `attempt`; `talk`, `folders`, `listing`, `plan_get`, `plan_put` for
//! what there is to do; `crew`, `worker`, `task`, `asks`, `handles` for who does it; `put`,
//! `naming`, `finish`, `check`, `get`, `reading` for how; `compare`, `told`, `removal`,
//! `removal_here`; `journal`.

mod asks;
mod attempt;
mod check;
mod check_file;
mod compare;
mod crew;
mod early;
mod failure;
mod far_name;
mod finish;
mod folders;
mod get;
mod handles;
mod item;
mod journal;
mod listing;
mod naming;
mod plan_get;
mod plan_put;
mod put;
mod reading;
mod removal;
mod removal_here;
mod run;
mod shared;
mod talk;
mod task;
mod told;
mod wildcards;
mod window;
mod work;
mod worker;

pub(crate) use run::{NotBegun, SftpCopy, no_sftp};
