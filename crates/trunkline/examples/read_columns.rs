//! Reads one column of many files of a server: ranges of files, all on their way at once. Without
//! arguments both ends are in this process, on loopback.
//!
//! `cargo run -p trunkline --example read_columns [URL TOKEN_FILE [OFFSET LENGTH]]`

use std::error::Error;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use trunkline::copy::Token;
use trunkline::remote::{Remote, RemoteOptions};
use trunkline::serve::{Files, Rights, ServeOptions, Server, add_token};
use trunkline::{Cancel, units};

/// Where the column lies in each file of the example.
const COLUMN: (u64, u64) = (1_000_000, 400_000);

#[allow(dead_code)] // A test calls `run`.
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let read = match arguments.as_slice() {
        [] => run(tempfile::tempdir()?.path())?,
        [url, token, place @ ..] => {
            let token = fs::read_to_string(token)?.parse()?;
            let column = match place {
                [offset, length] => (offset.parse()?, length.parse()?),
                _ => COLUMN,
            };
            column_of_all(url, token, column)?
        }
        [_] => return Err("name a URL and the file with its token".into()),
    };
    let bytes: usize = read.iter().map(Vec::len).sum();
    println!(
        "{} files, {} of each column",
        read.len(),
        units::Bytes::new(bytes as u64).human()
    );
    Ok(())
}

/// Makes ten files below `folder`, serves them, and reads a column of each.
pub fn run(folder: &Path) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let store = folder.join("store");
    fs::create_dir(&store)?;
    for number in 0..10 {
        fs::write(store.join(format!("{number}.bin")), vec![number; 2_000_000])?;
    }
    let tokens = folder.join("tokens");
    let token: Token = add_token(&tokens, "ana", Rights::ALL)?.parse()?;
    let options = ServeOptions {
        at: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into(),
        files: Some(Files::new(&store, &tokens)),
        ..ServeOptions::default()
    };
    let stop_serving = Cancel::new();
    let server = Server::bind(&options, &stop_serving, Arc::new(|_| {}))?;
    let url = format!("trunkline://{}/", server.address());
    let serving = thread::spawn(move || server.run());
    let read = column_of_all(&url, token, COLUMN);
    stop_serving.cancel();
    serving.join().map_err(|_| "the server failed")?;
    read
}

/// The bytes of the column of each file in the folder, by name.
fn column_of_all(
    url: &str,
    token: Token,
    (offset, length): (u64, u64),
) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    // `cancel.cancel()` from another thread would end each call.
    let cancel = Cancel::new();
    let began = Instant::now();
    let remote = Remote::open(url, token, RemoteOptions::default(), &cancel)?;
    let mut ranges = Vec::new();
    for entry in remote.list("", &cancel)? {
        if entry.info.is_file() {
            let mut range = remote.range(&entry.name, offset, Some(offset + length))?;
            // Another version than the one that was listed would be an error.
            range.expected = Some(entry.info.identity);
            ranges.push(range);
        }
    }
    let mut columns = Vec::new();
    for column in remote.read_many(&ranges, &cancel)? {
        columns.push(column?.bytes);
    }
    println!(
        "{:.2} s with {} connections",
        began.elapsed().as_secs_f64(),
        remote.connections()
    );
    Ok(columns)
}
