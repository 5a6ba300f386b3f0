//! What can be asked of a far end.

use std::sync::Arc;
use std::time::Instant;

use copy_protocol::remote::{Ask, FileInfo, Listed, Removing};
use copy_protocol::{Name, Rights, Token};
use units::{Address, Span};

use crate::RemoteError;
use crate::caller::Caller;
use crate::options::RemoteOptions;
use crate::pool::{Facts, Pool};
use crate::reading::{ReadRange, read_all};
use crate::slot::{ReadBytes, Signal, Slot, Stage, TICK};
use crate::storing::{SmallFile, store_all};

/// A session that was silent for so long may have ended at the other end.
const STALE: Span = Span::from_secs(60);

/// Files of a far end. Clones share its connections; any thread may use it.
///
/// Every call takes `is_stopped`, which is asked some forty times a second and ends the call.
#[derive(Debug, Clone)]
pub struct RemoteFiles {
    pool: Arc<Pool>,
}

impl RemoteFiles {
    /// Connects to the server at `address`.
    ///
    /// # Errors
    /// When it cannot be reached, does not know the token, or gives no access to files.
    pub fn open(
        address: Address,
        token: Token,
        options: RemoteOptions,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, RemoteError> {
        let pool = Pool::new(address, token, options);
        pool.connect(Span::ZERO, is_stopped)?;
        Ok(RemoteFiles { pool })
    }

    /// What the token allows.
    ///
    /// # Errors
    /// When the far end is gone.
    pub fn rights(&self, is_stopped: &dyn Fn() -> bool) -> Result<Rights, RemoteError> {
        Ok(self.facts(is_stopped)?.rights)
    }

    /// Whether names may be removed and changed, as far as the server is asked.
    ///
    /// # Errors
    /// When the far end is gone.
    pub fn removes(&self, is_stopped: &dyn Fn() -> bool) -> Result<bool, RemoteError> {
        Ok(self.facts(is_stopped)?.removes)
    }

    /// The far end's program and version.
    ///
    /// # Errors
    /// When the far end is gone.
    pub fn software(&self, is_stopped: &dyn Fn() -> bool) -> Result<String, RemoteError> {
        Ok(self.facts(is_stopped)?.software)
    }

    fn facts(&self, is_stopped: &dyn Fn() -> bool) -> Result<Facts, RemoteError> {
        self.pool.connect(self.pool.options.patience, is_stopped)
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.pool.connections()
    }

    /// What a name is. A link is what it points to, where that can be reached.
    ///
    /// # Errors
    /// When there is no such name, or it may not be looked at.
    pub fn info(
        &self,
        path: &Name,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<FileInfo, RemoteError> {
        let path = path.clone();
        let slot = self.done(Ask::Info { path }, is_stopped)?;
        let nothing = || RemoteError::Protocol("a name has no answer".to_owned());
        slot.take_info().ok_or_else(nothing)
    }

    /// Gives what is in a folder to `each`, in no order, some at a time; names are relative to it.
    ///
    /// Where it `is_recursive`, all that is below comes too, folders before what is in them, and
    /// the far end waits for `each`, so that a tree of any size takes little memory at both ends. A
    /// connection that is lost before the first entries is no error, later it is.
    ///
    /// # Errors
    /// When it is no folder, or cannot be read to its end. The first error of `each`.
    pub fn list(
        &self,
        path: &Name,
        is_recursive: bool,
        each: &mut dyn FnMut(Vec<Listed>) -> Result<(), RemoteError>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), RemoteError> {
        let mut caller = self.caller(is_stopped);
        loop {
            match self.list_once(path, is_recursive, each, &mut caller) {
                Ok(Listing::Done) => return Ok(()),
                Ok(Listing::Lost) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn list_once(
        &self,
        path: &Name,
        is_recursive: bool,
        each: &mut dyn FnMut(Vec<Listed>) -> Result<(), RemoteError>,
        caller: &mut Caller<'_>,
    ) -> Result<Listing, RemoteError> {
        let signal = Arc::new(Signal::default());
        let ask = Ask::List {
            path: path.clone(),
            is_recursive,
        };
        let slot = Slot::new(ask, &signal);
        caller.ask(&slot, is_recursive)?;
        let mut listing = Taking {
            slot: &slot,
            whole: Vec::new(),
            is_recursive,
            has_given: false,
        };
        let mut seen = 0;
        loop {
            listing.take(each)?;
            match slot.stage() {
                Stage::Done => return listing.finish(each).map(|()| Listing::Done),
                Stage::Failed(error) => return Err(error),
                Stage::Lost(why) if listing.has_given => {
                    return Err(RemoteError::Lost {
                        what: format!("the listing of `{path}` was cut: {why}"),
                        patience: Span::ZERO,
                    });
                }
                Stage::Lost(why) => {
                    caller.on_lost(why)?;
                    return Ok(Listing::Lost);
                }
                Stage::Waiting => {}
            }
            seen = signal.wait(seen, TICK);
            caller.on_heard(slot.heard());
            caller.go_on()?;
        }
    }

    /// Reads ranges of files, in pieces over all connections. Each range has a result of its own,
    /// of one version of its file; they come in the order of the ranges.
    ///
    /// # Errors
    /// When it was cancelled, or the far end was gone for too long.
    pub fn read_many(
        &self,
        ranges: &[ReadRange],
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<Result<ReadBytes, RemoteError>>, RemoteError> {
        read_all(&mut self.caller(is_stopped), ranges)
    }

    /// Reads one range of a file.
    ///
    /// # Errors
    /// When there is no such file, it cannot be read, or it changed meanwhile.
    pub fn read(
        &self,
        range: ReadRange,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<ReadBytes, RemoteError> {
        let mut all = self.read_many(std::slice::from_ref(&range), is_stopped)?;
        let nothing = || Err(RemoteError::Protocol("a range has no answer".to_owned()));
        all.pop().unwrap_or_else(nothing)
    }

    /// Makes a folder; one that is there already is as good.
    ///
    /// # Errors
    /// When something else has the name, or it may not be made.
    pub fn make_folder(
        &self,
        path: &Name,
        with_parents: bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), RemoteError> {
        let path = path.clone();
        let ask = Ask::MakeFolder { path, with_parents };
        self.done(ask, is_stopped).map(drop)
    }

    /// Stores small files whole, all at once, and makes the folders that they are in. Each has a
    /// result of its own; they come in the order of the files. Whatever happens, a name stands for
    /// what was there or for all of its file.
    ///
    /// # Errors
    /// When it was cancelled, or the far end was gone for too long.
    pub fn store_many(
        &self,
        files: &[SmallFile],
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<Result<(), RemoteError>>, RemoteError> {
        if files.iter().any(|file| !file.replaces) {
            self.wake(is_stopped)?;
        }
        store_all(&mut self.caller(is_stopped), files)
    }

    /// Stores one small file.
    ///
    /// # Errors
    /// When it is too long, its name is a folder or taken, another one is writing it, or it may not
    /// be written; [`RemoteError::Unsure`] when the connection was lost meanwhile and it does not
    /// replace.
    pub fn store(&self, file: SmallFile, is_stopped: &dyn Fn() -> bool) -> Result<(), RemoteError> {
        let stored = self.store_many(std::slice::from_ref(&file), is_stopped)?;
        stored.into_iter().collect()
    }

    /// Removes a name. It is not asked for twice.
    ///
    /// # Errors
    /// When there is no such name, it is something else, or may not be removed;
    /// [`RemoteError::Unsure`] when the connection was lost meanwhile.
    pub fn remove(
        &self,
        path: &Name,
        what: Removing,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), RemoteError> {
        let path = path.clone();
        self.done(Ask::Remove { path, what }, is_stopped).map(drop)
    }

    /// Gives a name another place. It is not asked for twice.
    ///
    /// # Errors
    /// As [`remove`](Self::remove), and when the other name is taken.
    pub fn rename(
        &self,
        from: &Name,
        to: &Name,
        replaces: bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), RemoteError> {
        let (from, to) = (from.clone(), to.clone());
        self.done(Ask::Rename { from, to, replaces }, is_stopped)
            .map(drop)
    }

    /// Asks until it is done.
    fn done(&self, ask: Ask, is_stopped: &dyn Fn() -> bool) -> Result<Arc<Slot>, RemoteError> {
        let mut caller = self.caller(is_stopped);
        if !ask.is_idempotent() {
            self.wake(is_stopped)?;
        }
        loop {
            let signal = Arc::new(Signal::default());
            let slot = Slot::new(ask.clone(), &signal);
            caller.ask(&slot, false)?;
            match caller.wait(&slot, &signal)? {
                Ok(()) => return Ok(slot),
                Err(why) if ask.is_idempotent() => caller.on_lost(why)?,
                Err(what) => {
                    return Err(RemoteError::Unsure {
                        name: ask.path().to_string(),
                        what,
                    });
                }
            }
        }
    }

    /// What may not be asked twice does not find out that a session has long been over.
    fn wake(&self, is_stopped: &dyn Fn() -> bool) -> Result<(), RemoteError> {
        let is_stale = self.pool.silent_for().is_none_or(|silent| silent >= STALE);
        if !is_stale {
            return Ok(());
        }
        match self.info(&Name::default(), is_stopped) {
            Ok(_) | Err(RemoteError::Failed(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn caller<'a>(&'a self, is_stopped: &'a dyn Fn() -> bool) -> Caller<'a> {
        Caller {
            pool: &self.pool,
            is_stopped,
            progress: Instant::now(),
            why: None,
        }
    }
}

/// How a listing ended.
enum Listing {
    Done,
    /// Before anything of it was given to the caller.
    Lost,
}

/// What comes of a listing. Of a single folder all is kept until the end, so that it can be asked
/// for again.
struct Taking<'a> {
    slot: &'a Slot,
    whole: Vec<Vec<Listed>>,
    is_recursive: bool,
    has_given: bool,
}

impl Taking<'_> {
    fn take(
        &mut self,
        each: &mut dyn FnMut(Vec<Listed>) -> Result<(), RemoteError>,
    ) -> Result<(), RemoteError> {
        while let Some(batch) = self.slot.take_batch() {
            match self.is_recursive {
                true => {
                    self.has_given = true;
                    each(batch)?;
                }
                false => self.whole.push(batch),
            }
        }
        Ok(())
    }

    fn finish(
        &mut self,
        each: &mut dyn FnMut(Vec<Listed>) -> Result<(), RemoteError>,
    ) -> Result<(), RemoteError> {
        self.take(each)?;
        std::mem::take(&mut self.whole)
            .into_iter()
            .try_for_each(each)
    }
}

/// A listing that is not taken to its end keeps no connection waiting.
impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.slot.abandon();
    }
}
