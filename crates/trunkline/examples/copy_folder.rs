//! Copies a folder to a server with a progress bar. Both ends are in this process, on loopback.
//!
//! `cargo run -p trunkline --example copy_folder`

use std::error::Error;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use indicatif::{ProgressBar, ProgressStyle};
use trunkline::copy::{Access, Copied, CopyControl, CopyEvent, CopyObserver, CopyOptions};
use trunkline::copy::{CopyRequest, Token};
use trunkline::serve::{Files, Rights, ServeOptions, Server, add_token};
use trunkline::{Cancel, copy};

#[allow(dead_code)] // A test calls `run`.
fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let copied = run(folder.path())?;
    let files = copied.outcome.files;
    println!("{files} files, {}", copied.outcome.bytes.human());
    Ok(())
}

/// Copies a folder that it makes below `folder`, and compares what arrived.
pub fn run(folder: &Path) -> Result<Copied, Box<dyn Error>> {
    let (source, store) = (folder.join("run7"), folder.join("store"));
    fs::create_dir_all(source.join("raw"))?;
    fs::create_dir(&store)?;
    fs::write(source.join("notes.txt"), "the seventh run\n")?;
    fs::write(source.join("raw/events.bin"), vec![7; 24 << 20])?;

    // The server gives a token to whom it serves; here the same process keeps it.
    let tokens = folder.join("tokens");
    let token: Token = add_token(&tokens, "ana", Rights::ALL)?.parse()?;
    let options = ServeOptions {
        at: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into(),
        files: Some(Files::new(&store, &tokens)),
        ..ServeOptions::default()
    };
    let stop_serving = Cancel::new();
    let server = Server::bind(&options, &stop_serving, Arc::new(|_| {}))?;
    let place = format!("trunkline://{}/", server.address());
    let serving = thread::spawn(move || server.run());

    let copied = put(&source, &place, token);
    stop_serving.cancel();
    serving.join().map_err(|_| "the server failed")?;
    let copied = copied?;
    for name in ["notes.txt", "raw/events.bin"] {
        let arrived = fs::read(store.join("run7").join(name))?;
        if arrived != fs::read(source.join(name))? {
            return Err(format!("{name} arrived as something else").into());
        }
    }
    Ok(copied)
}

/// Copies `source` with what is in it.
fn put(source: &Path, place: &str, token: Token) -> Result<Copied, Box<dyn Error>> {
    let options = CopyOptions {
        recursive: true,
        ..CopyOptions::default()
    };
    let access = Access {
        token: Some(token),
        ..Access::default()
    };
    let request = CopyRequest::new(&[source, Path::new(place)], options, access)?;
    // `cancel.cancel()` from another thread would end it.
    let cancel = Cancel::new();
    let control = CopyControl::from(&cancel);
    Ok(copy(&request, &control, &mut Bar::new()?)?)
}

/// A bar that follows the copy on a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Result<Self, Box<dyn Error>> {
        let bar = ProgressBar::new(0);
        bar.set_style(ProgressStyle::with_template(
            "{bar:40} {bytes} of {total_bytes} {msg}",
        )?);
        Ok(Bar(bar))
    }
}

impl CopyObserver for Bar {
    fn on_event(&mut self, event: &CopyEvent) {
        match event {
            CopyEvent::Progress(progress) => {
                self.0.set_length(progress.total.get());
                self.0.set_position(progress.done.get());
                let rate = progress.rate.human();
                self.0
                    .set_message(format!("{rate} over {} streams", progress.streams));
            }
            CopyEvent::Published { name, .. } => self.0.println(name.to_string()),
            _ => {}
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
