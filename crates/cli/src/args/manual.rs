//! `trunkline completion` and `trunkline man`: what other programs make of these definitions.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    trunkline completion bash > ~/.local/share/bash-completion/completions/trunkline\n  \
    trunkline completion zsh > ~/.zfunc/_trunkline\n  \
    trunkline completion fish > ~/.config/fish/completions/trunkline.fish")]
pub(crate) struct Completion {
    /// Which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Write the manual pages into a folder
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  trunkline man --dir ~/.local/share/man/man1 && man trunkline-copy"
)]
pub(crate) struct Man {
    /// The folder, which is made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
}
