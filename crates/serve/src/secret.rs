//! Random texts that nobody can guess.

use std::fmt;
use std::hint::black_box;

use crate::error::ServeError;

/// Random bytes of a secret.
const RANDOM_BYTES: usize = 16;

/// A random text: 128 bits in hexadecimal.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new() -> Result<Self, ServeError> {
        let mut bytes = [0_u8; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| ServeError::NoRandomNumbers(error.to_string()))?;
        Ok(Secret(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// `true` if a text is this one. The time it takes depends on the length alone.
    pub(crate) fn is(&self, text: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), text.as_bytes());
        if own.len() != other.len() {
            return false;
        }
        let differences = own.iter().zip(other).fold(0, |all, (own, other)| black_box(all | (own ^ other)));
        differences == 0
    }
}

/// Nothing of the secret: what is logged stays.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_only_itself() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert_eq!(one.as_str().len(), 32);
        assert!(one.is(one.as_str()));
        let mut near = one.as_str().to_owned();
        let last = if near.pop() == Some('0') { '1' } else { '0' };
        near.push(last);
        for wrong in ["", &one.as_str()[1..], other.as_str(), &near, &format!("{}0", one.as_str())] {
            assert!(!one.is(wrong), "{wrong}");
        }
        assert_eq!(format!("{one:?}"), "Secret");
    }
}
