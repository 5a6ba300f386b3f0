//! What a token allows.

use copy_protocol::remote::{Ask, Failure, FailureKind};

use files::Root;

/// Refuses what the rights do not allow, before any file is looked at.
///
/// To look needs the right to read. To remove or to change a name takes away what was there, so it
/// needs both rights, as `--delete` of copies does, and a server that removes.
pub(super) fn check(root: &Root, ask: &Ask) -> Result<(), Failure> {
    match ask {
        Ask::Info { .. } | Ask::List { .. } | Ask::Read { .. } if !root.may_read() => Err(refused(
            "this token may not read here",
            "use a token with `r` or `rw`",
        )),
        Ask::MakeFolder { .. } | Ask::Store(_) if !root.may_write() => Err(refused(
            "this token may not write here",
            "use a token with `w` or `rw`, on a server without `--read-only`",
        )),
        Ask::Remove { .. } | Ask::Rename { .. } if !(root.may_read() && root.may_write()) => {
            Err(refused(
                "names are removed and changed only for those who may read and write here",
                "use a token with `rw`, on a server without `--read-only` or `--write-only`",
            ))
        }
        Ask::Remove { .. } | Ask::Rename { .. } if !root.may_remove() => Err(refused(
            "this server removes and renames nothing (`--no-delete`)",
            "ask who runs it",
        )),
        _ => Ok(()),
    }
}

fn refused(what: &str, hint: &str) -> Failure {
    Failure::new(FailureKind::Rights, what).with_hint(hint)
}
