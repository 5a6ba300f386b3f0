//! What is measured: a host, an emulated path or a simulated one.

use std::fmt;

use netpath::PathSpec;
use observe::TargetInfo;

use crate::Error;
use crate::login::Login;

pub use ::target::{OpenError, TargetName};
pub use observe::{HostLimits, TargetKind};
pub use units::{Address, PORT_DEFAULT};

/// An open target.
///
/// * `HOST`, `HOST:PORT`: a host that runs `trunkline serve` or `iperf3 -s`.
/// * `emu:PATH`: a named path or a path file, emulated between two namespaces of this host.
/// * `sim:PATH`: the same in virtual time. Needs no rights and no network.
/// * `gridftp://HOST/FILE`, `root://HOST//FILE`, `scp://HOST/FILE`, `sftp+rclone:REMOTE:FILE`,
///   `iperf2://HOST`, `nuttcp://HOST`: the far end of another program, whose own client is run.
///
/// ```
/// let target = trunkline::Target::open("sim:slac-cern", 1).unwrap();
/// assert_eq!(target.describe().name, "sim:slac-cern");
/// ```
pub struct Target {
    pub(crate) name: TargetName,
    pub(crate) seed: u64,
    login: Option<Login>,
    /// What answers: runs, probes, packet trains.
    pub observed: Box<dyn observe::Target>,
}

impl Target {
    /// Opens a target by its name, a host at port [`PORT_DEFAULT`] unless the name has one.
    ///
    /// * `seed`: decides which packets an emulated path loses, and everything on a simulated one.
    ///
    /// A live host is not contacted yet. An emulated path needs rights, and users who are not root
    /// can only get them while the process has a single thread: open before starting any.
    ///
    /// # Errors
    /// When the name is none, the path file is wrong, or the path cannot be emulated here.
    pub fn open(name: &str, seed: u64) -> Result<Self, Error> {
        Target::open_named(TargetName::parse(name, PORT_DEFAULT)?, seed)
    }

    /// The same of a name that was read before.
    ///
    /// # Errors
    /// When the path cannot be emulated here.
    pub fn open_named(name: TargetName, seed: u64) -> Result<Self, Error> {
        let observed = ::target::open(&name, seed)?;
        Ok(Target {
            name,
            seed,
            login: None,
            observed,
        })
    }

    /// The same as one of the users of its server, which only hosts have.
    ///
    /// # Errors
    /// As [`Target::open_named`], and when there is a login and the target is no host.
    pub fn open_as(name: TargetName, seed: u64, login: Option<Login>) -> Result<Self, Error> {
        let TargetName::Live(address) = &name else {
            if login.is_some() {
                crate::login::check_target(&name)?;
            }
            return Target::open_named(name, seed);
        };
        let observed = ::target::LiveHost::for_user(address.clone(), login.clone());
        Ok(Target {
            name,
            seed,
            login,
            observed: Box::new(observed),
        })
    }

    /// Opens the same once more, as the same user.
    ///
    /// # Errors
    /// As [`Target::open_named`].
    pub fn again(&self) -> Result<Self, Error> {
        Target::open_as(self.name.clone(), self.seed, self.login.clone())
    }

    /// Opens a target to go on with a series of runs at run number `first`: with draws of its own.
    ///
    /// # Errors
    /// As [`Target::open_as`].
    pub(crate) fn open_to_resume(
        name: TargetName,
        seed: u64,
        first: u64,
        login: Option<Login>,
    ) -> Result<Self, Error> {
        if login.is_some() {
            return Target::open_as(name, seed, login);
        }
        let resumed = ::target::seed_from(seed, first);
        let observed = ::target::open_to_resume(&name, seed, resumed)?;
        Ok(Target {
            name,
            seed,
            login,
            observed,
        })
    }

    /// The name that it was opened by.
    pub fn name(&self) -> &TargetName {
        &self.name
    }

    /// Its name, kind and bounds.
    pub fn describe(&self) -> TargetInfo {
        self.observed.describe()
    }

    /// The path that it runs; `None` of a live host.
    pub fn path(&self) -> Option<&PathSpec> {
        self.name.path()
    }

    /// The seed that it was opened with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The target as documents have it.
    pub fn shape(&self) -> record::Target {
        shape(&*self.observed, &self.name)
    }
}

/// A target as documents have it, and how punctual it has been.
pub(crate) fn shape(target: &dyn observe::Target, name: &TargetName) -> record::Target {
    record::Target {
        punctuality: target.punctuality(),
        ..record::Target::from(&target.describe()).on_path(name.path())
    }
}

/// Loads a named path or a path file; the prefix of a target may stand before its name.
///
/// ```
/// let path = trunkline::load_path("sim:slac-cern")?;
/// assert_eq!(path, trunkline::load_path("slac-cern")?);
/// # Ok::<(), trunkline::Error>(())
/// ```
///
/// # Errors
/// When there is no such path, or the file is wrong: where, and what may stand there.
pub fn load_path(name: &str) -> Result<PathSpec, Error> {
    Ok(::target::load_path(name)?)
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Target");
        shown.field("name", &self.name).field("seed", &self.seed);
        shown.finish_non_exhaustive()
    }
}
