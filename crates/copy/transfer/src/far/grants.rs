//! Tokens that open one copy each, granted to controllers of third-party copies.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use copy_protocol::{Key, KeyName, Opening, Problem, ProblemKind, Token};

use files::{problem, with_hint};

/// A token that was not shown for so long is void.
pub(super) const LIFE: Duration = Duration::from_secs(600);
/// Tokens that are not used yet, of all holders and of one.
const TOKENS_MAX: (usize, usize) = (1024, 64);
/// Characters of a name that cannot be guessed: 80 bits.
const NAME_RANDOM: usize = 16;
/// Characters of the holder's name before them.
const NAME_HOLDER: usize = 40;

/// One token.
#[derive(Debug)]
struct Grant {
    /// The token of the controller.
    holder: KeyName,
    key: Key,
    /// The copy that it opens.
    opening: Opening,
    until: Instant,
}

/// The tokens that are not used yet.
#[derive(Debug, Default)]
pub(super) struct Grants(Mutex<BTreeMap<KeyName, Grant>>);

impl Grants {
    /// A token for this copy. One that was granted for it before is void.
    pub(super) fn grant(&self, holder: &KeyName, opening: Opening) -> Result<Token, Problem> {
        let token = new_token(holder)?;
        let now = Instant::now();
        let mut grants = self.lock();
        grants.retain(|_, grant| {
            let is_same = grant.holder == *holder && grant.opening.copy == opening.copy;
            grant.until > now && !is_same
        });
        let own = grants.values().filter(|grant| grant.holder == *holder);
        let (all_max, own_max) = TOKENS_MAX;
        if own.count() >= own_max || grants.len() >= all_max {
            let what = format!(
                "this end has granted {} tokens that were not used yet; it keeps {own_max} for one \
                 holder and {all_max} in all",
                grants.len()
            );
            let busy = problem(ProblemKind::Busy, what);
            return Err(with_hint(
                busy,
                "try again in ten minutes, when they are void",
            ));
        }
        let grant = Grant {
            holder: holder.clone(),
            key: token.secret.key(),
            opening,
            until: now + LIFE,
        };
        grants.insert(token.name.clone(), grant);
        Ok(token)
    }

    /// The key of a token, and who holds it. One that waits for a place stays good.
    pub(super) fn find(&self, name: &KeyName) -> Option<(Key, KeyName)> {
        let now = Instant::now();
        let mut grants = self.lock();
        let grant = grants.get_mut(name).filter(|grant| grant.until > now)?;
        grant.until = now + LIFE;
        Some((grant.key.clone(), grant.holder.clone()))
    }

    /// Uses a token: who holds it; `None` where there is none of that name.
    ///
    /// # Errors
    /// When it is for another copy.
    pub(super) fn redeem(
        &self,
        name: &KeyName,
        opening: &Opening,
    ) -> Result<Option<KeyName>, Problem> {
        let Some(grant) = self.lock().remove(name) else {
            return Ok(None);
        };
        match grant.opening == *opening {
            true => Ok(Some(grant.holder)),
            false => Err(with_hint(
                problem(
                    ProblemKind::Permission,
                    "this token opens one copy, and this is another one",
                ),
                "the source changed what it was commanded; use the same version at all three hosts",
            )),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<KeyName, Grant>> {
        // Each change is complete, even when another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_token(holder: &KeyName) -> Result<Token, Problem> {
    let failed = |why: String| problem(ProblemKind::Request, why);
    let random = || copy_net::new_secret().map_err(|error| failed(error.to_string()));
    let end: String = random()?.text().chars().take(NAME_RANDOM).collect();
    let begin: String = holder.as_str().chars().take(NAME_HOLDER).collect();
    let name = KeyName::new(&format!("{begin}.{end}"));
    Ok(Token {
        name: name.map_err(|error| failed(error.to_string()))?,
        secret: random()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::tests::opening_of;
    use copy_protocol::CopyDirection;

    fn name(text: &str) -> KeyName {
        KeyName::new(text).unwrap()
    }

    fn put(number: u8) -> Opening {
        Opening {
            copy: [number; 16],
            ..opening_of(CopyDirection::Put, &["store"])
        }
    }

    #[test]
    fn a_token_opens_its_copy_once() {
        let grants = Grants::default();
        let token = grants.grant(&name("ana"), put(1)).unwrap();
        let (key, holder) = grants.find(&token.name).unwrap();
        assert_eq!((key, holder), (token.secret.key(), name("ana")));
        let redeemed = grants.redeem(&token.name, &put(1)).unwrap();
        assert_eq!(redeemed, Some(name("ana")));
        assert!(grants.find(&token.name).is_none());
        assert_eq!(grants.redeem(&token.name, &put(1)), Ok(None));
    }

    #[test]
    fn another_copy_is_refused_and_voids_the_token() {
        let others = [
            Opening {
                paths: vec![b"etc".to_vec()],
                ..put(1)
            },
            Opening {
                delete: true,
                ..put(1)
            },
            Opening {
                direction: CopyDirection::Get,
                ..put(1)
            },
            put(2),
        ];
        for other in others {
            let grants = Grants::default();
            let token = grants.grant(&name("ana"), put(1)).unwrap();
            let refused = grants.redeem(&token.name, &other).unwrap_err();
            assert_eq!(refused.kind, ProblemKind::Permission);
            assert!(grants.find(&token.name).is_none());
        }
    }

    #[test]
    fn a_newer_token_of_the_same_copy_voids_the_older() {
        let grants = Grants::default();
        let (ana, bob) = (name("ana"), name("bob"));
        let first = grants.grant(&ana, put(1)).unwrap();
        let other = grants.grant(&bob, put(1)).unwrap();
        let second = grants.grant(&ana, put(1)).unwrap();
        assert!(grants.find(&first.name).is_none());
        assert!(grants.find(&second.name).is_some() && grants.find(&other.name).is_some());
    }

    #[test]
    fn tokens_of_one_holder_are_bounded() {
        let grants = Grants::default();
        let long = name(&"n".repeat(64));
        for number in 0..TOKENS_MAX.1 {
            grants.grant(&long, put(number as u8)).unwrap();
        }
        let refused = grants.grant(&long, put(255)).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Busy);
        assert!(grants.grant(&name("ana"), put(255)).is_ok());
    }
}
