//! Events as lines of the log. Files and half seconds are many, and lie below what is seldom.

use copy_protocol::CopyEvent;
use tracing::{debug, info, trace, warn};

pub(super) fn log(event: &CopyEvent) {
    match event {
        CopyEvent::Progress(it) => {
            let (done, rate) = (it.done, it.rate);
            trace!(%done, %rate, streams = it.streams, rtt = it.rtt.map(display), "progress");
        }
        CopyEvent::Published { name, bytes, .. } => debug!(%name, %bytes, "published"),
        CopyEvent::Skipped { name, bytes, .. } => debug!(%name, %bytes, "is there already"),
        CopyEvent::Checksum {
            name,
            algorithm,
            digest,
            ..
        } => debug!(%name, algorithm, digest, "checksum"),
        CopyEvent::WouldCopy { name, bytes } => debug!(%name, %bytes, "would be copied"),
        CopyEvent::Removed { name, .. } => debug!(name, "removed"),
        CopyEvent::LeftOut { problem, .. } => debug!(?problem, "left out"),
        CopyEvent::Failed { problem, .. } => warn!(?problem, "not copied"),
        CopyEvent::Connected { peer, rtt, .. } => {
            info!(peer, rtt = rtt.map(display), "the far end answers");
        }
        CopyEvent::ProgramSent {
            host, file, bytes, ..
        } => info!(host, file, %bytes, "the program here is sent"),
        CopyEvent::OverSftp { host, because, .. } => {
            info!(host, because, "SFTP in place of a program there");
        }
        CopyEvent::Planned {
            files,
            bytes,
            present,
            ..
        } => info!(files, %bytes, %present, "all is known"),
        CopyEvent::Steered { streams, why, .. } => info!(streams, why, "steered"),
        CopyEvent::Queued { why, ahead, .. } => info!(why, ahead, "waits for its turn"),
        CopyEvent::Stalled {
            still, here, there, ..
        } => warn!(%still, here, there, "stands still"),
        CopyEvent::Moving { still, .. } => info!(%still, "moves again"),
        CopyEvent::Lost { why, retry_in, .. } => warn!(why, %retry_in, "the far end is gone"),
        CopyEvent::Resumed { left, .. } => info!(%left, "the far end is back"),
        CopyEvent::Following { files, waiting, .. } => debug!(files, waiting, "waits for files"),
        CopyEvent::Error { what, .. } => warn!(what),
    }
}
