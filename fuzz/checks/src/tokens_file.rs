//! Any bytes as a tokens file, or as a token: read, or refused without repeating what may be a
//! secret.

use copy_protocol::{Rights, Token, Tokens};

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Tokens::parse(text) {
        Ok(tokens) => assert!(tokens.names().all(|name| tokens.find(name).is_some())),
        Err(error) => {
            assert!((1..=text.lines().count()).contains(&error.line));
            let said = format!("{error} {error:?}");
            let is_secret = |word: &&str| word.len() >= 52;
            assert!(
                !text
                    .split_whitespace()
                    .filter(is_secret)
                    .any(|word| said.contains(word))
            );
        }
    }
    if let Ok(token) = text.parse::<Token>() {
        assert_eq!(token.text(), text.trim());
        let line = Tokens::line(&token, Rights::ALL);
        let tokens = Tokens::parse(&line).expect("a line of ours");
        assert!(tokens.find(&token.name).is_some());
    }
}
