//! A network namespace that exists only while it is held.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, setns, unshare};

use crate::EmuError;

/// A network namespace without a name: it ends with its last process and descriptor.
#[derive(Debug, Clone)]
pub struct Namespace {
    handle: Arc<File>,
}

impl Namespace {
    /// Makes an empty one with its loopback interface down.
    ///
    /// # Errors
    /// When the user may not make namespaces.
    pub fn create() -> Result<Self, EmuError> {
        let make = || -> io::Result<File> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        };
        let maker = spawn_named("namespace", make)?;
        match maker.join() {
            Ok(Ok(handle)) => Ok(Namespace {
                handle: Arc::new(handle),
            }),
            Ok(Err(error)) => Err(EmuError::NamespaceRefused(error)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Moves the calling thread into this namespace; threads and sockets it makes are there too.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn enter(&self) -> io::Result<()> {
        setns(&*self.handle, CloneFlags::CLONE_NEWNET)?;
        Ok(())
    }

    /// Starts a thread in this namespace.
    ///
    /// # Errors
    /// When there can be no more threads.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<io::Result<T>>, EmuError> {
        let namespace = self.clone();
        spawn_named(name, move || {
            namespace.enter()?;
            Ok(work())
        })
    }

    /// Does `work` in this namespace and waits for it; the calling thread stays where it is.
    ///
    /// # Errors
    /// When there can be no more threads or the kernel refuses to let them in.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, EmuError> {
        let result = thread::scope(|scope| {
            let visitor = scope.spawn(|| -> io::Result<T> {
                self.enter()?;
                Ok(work())
            });
            visitor.join()
        });
        match result {
            Ok(outcome) => outcome.map_err(EmuError::NamespaceRefused),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

pub(crate) fn spawn_named<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, EmuError> {
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map_err(|source| EmuError::Resource {
        what: "a thread",
        source,
    })
}
