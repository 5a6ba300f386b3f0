//! A pipe as something to write to or to read from.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use copy_protocol::CopyDirection;

use super::{Input, NearPipe, PipeOutcome, PipeRequest, pipe};
use crate::copy::CopyControl;
use crate::{Error, Fault};

/// Bytes to or from a file or a program of another host, over as many connections as the path
/// needs.
///
/// What is written is whole once [`ParallelStream::finish`] has returned, and what is read once a
/// read has returned zero bytes: before that the length and the digest of all were compared. One
/// that is dropped earlier is given up: no file gets its name, and a program at the far end is
/// ended with a signal.
#[derive(Debug)]
pub struct ParallelStream {
    end: Option<End>,
    worker: Option<JoinHandle<Result<PipeOutcome, Error>>>,
    outcome: Option<PipeOutcome>,
    control: CopyControl,
    is_finished: Arc<AtomicBool>,
}

#[derive(Debug)]
enum End {
    Writes(PipeWriter),
    Reads(PipeReader),
}

impl ParallelStream {
    /// Begins a pipe: to be written to where it goes into something, else to be read. What a
    /// program at the far end prints goes to the outputs of this process.
    ///
    /// Connections are made meanwhile; where that fails, writes and reads say so.
    ///
    /// # Errors
    /// When this process has no descriptor or thread left.
    pub fn open(request: &PipeRequest) -> Result<Self, Error> {
        let (reader, writer) = io::pipe()?;
        let is_finished = Arc::<AtomicBool>::default();
        let errors = Some(own(&io::stderr())?);
        let (near, end) = match request.spec.direction {
            CopyDirection::Put => {
                let input = Input::new(File::from(OwnedFd::from(reader)), "the stream");
                let near = NearPipe::Reads {
                    input: input.until(Arc::clone(&is_finished)),
                    output: Some(own(&io::stdout())?),
                    errors,
                };
                (near, End::Writes(writer))
            }
            CopyDirection::Get => {
                let output = File::from(OwnedFd::from(writer));
                (NearPipe::Writes { output, errors }, End::Reads(reader))
            }
        };
        let control = CopyControl::default();
        let (request, controlled) = (request.clone(), control.clone());
        let worker = thread::Builder::new()
            .name("pipe".to_owned())
            .spawn(move || pipe(&request, near, &controlled, &mut ()))?;
        Ok(ParallelStream {
            end: Some(end),
            worker: Some(worker),
            outcome: None,
            control,
            is_finished,
        })
    }

    /// Ends it from any thread; what was not finished is given up.
    pub fn control(&self) -> CopyControl {
        self.control.clone()
    }

    /// Writing ends here: returns once all is at the far end and its digest was confirmed there, or
    /// the program there has ended. Of one that is read, the rest is given up.
    ///
    /// # Errors
    /// When not all of it is there; a program that ended with another code than 0 is an error, too.
    pub fn finish(mut self) -> Result<PipeOutcome, Error> {
        match self.end.take() {
            Some(End::Writes(writer)) => {
                self.is_finished.store(true, Ordering::Release);
                drop(writer);
            }
            Some(End::Reads(reader)) if self.outcome.is_none() => {
                self.control.stop();
                drop(reader);
            }
            Some(End::Reads(_)) | None => {}
        }
        self.conclude()
    }

    /// What came of it, once it is over.
    fn conclude(&mut self) -> Result<PipeOutcome, Error> {
        if let Some(outcome) = &self.outcome {
            return Ok(outcome.clone());
        }
        let ended = |what| Error::sentence(Fault::Run, what, None);
        let worker = self.worker.take();
        let worker = worker.ok_or_else(|| ended("the pipe is over".to_owned()))?;
        let outcome = worker
            .join()
            .map_err(|_| ended("the pipe ended without a word".to_owned()))??;
        match outcome.exit {
            Some(code) if code != 0 => Err(ended(format!(
                "the program at the far end ended with exit code {code}"
            ))),
            _ if !outcome.is_whole => Err(ended(format!(
                "the program at the far end took {} and no more",
                outcome.taken.human()
            ))),
            _ => {
                self.outcome = Some(outcome.clone());
                Ok(outcome)
            }
        }
    }
}

impl Write for ParallelStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(End::Writes(writer)) = &mut self.end else {
            return Err(io::Error::other("this stream is read, or finished"));
        };
        match writer.write(bytes) {
            // The pipe is over; why, it says itself.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.end = None;
                match self.conclude() {
                    Ok(_) => Err(error),
                    Err(why) => Err(io::Error::other(why)),
                }
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for ParallelStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(End::Reads(reader)) = &mut self.end else {
            return Err(io::Error::other("this stream is written, or finished"));
        };
        match reader.read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                let ended = self.conclude();
                ended.map(|_| 0).map_err(io::Error::other)
            }
            read => read,
        }
    }
}

/// What is not finished is given up.
impl Drop for ParallelStream {
    fn drop(&mut self) {
        self.control.stop();
        drop(self.end.take());
        if let Some(worker) = self.worker.take() {
            // It said what was to be said, or was not asked.
            let _ = worker.join();
        }
    }
}

fn own(output: &impl AsFd) -> Result<File, Error> {
    Ok(File::from(output.as_fd().try_clone_to_owned()?))
}
