//! Where documents of this process come from.

use std::cell::RefCell;
use std::env;

use record::Origin;

thread_local! {
    static COMMAND: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// The origin of a document that this thread makes now: its command, this host, and the seed of
/// every random choice, where any was drawn.
pub fn origin(seed: Option<u64>) -> Origin {
    Origin::here(command(), seed)
}

/// Documents that this thread makes from now on name these words as their command, instead of the
/// command line of the process. For programs whose command line says nothing of what they asked
/// for, such as an interpreter.
///
/// ```
/// std::thread::spawn(|| {
///     trunkline::name_command(vec!["tune('sim:slac-cern')".to_owned()]);
///     assert_eq!(trunkline::origin(None).command_line, ["tune('sim:slac-cern')"]);
/// }).join().unwrap();
/// ```
pub fn name_command(words: Vec<String>) {
    COMMAND.with_borrow_mut(|command| *command = Some(words));
}

/// The words, without the passwords in them: documents are kept and passed on.
fn command() -> Vec<String> {
    let of_process = || {
        let words = env::args_os().map(|word| word.to_string_lossy().into_owned());
        words.collect()
    };
    let words = COMMAND.with_borrow(Clone::clone);
    let words = words.unwrap_or_else(of_process).into_iter();
    words.map(|word| target::without_password(&word)).collect()
}
