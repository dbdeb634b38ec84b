//! What is there where signing was left out: nothing that anybody could have.

use core::{convert::Infallible, fmt};

use embedded_storage_async::nor_flash::NorFlash;

use super::{Claims, Recalled};
use crate::{board::Trouble, store::Store};

const LEFT_OUT: Trouble = Trouble("this image was built without signing");

/// There is none.
#[derive(Debug)]
pub struct Signer(Infallible);

impl Signer {
    /// There is nothing to recall.
    ///
    /// # Errors
    /// Always.
    pub fn recall<F: NorFlash>(
        _: &Store<F>,
        _: Option<&'static str>,
        _: impl FnMut(&mut [u8]),
    ) -> Result<Recalled, Trouble> {
        Err(LEFT_OUT)
    }

    /// Nobody gets here.
    ///
    /// # Errors
    /// Never.
    pub fn rotate<F: NorFlash>(&self, _: &Store<F>, _: impl FnMut(&mut [u8])) -> Result<(), Trouble> {
        match self.0 {}
    }

    /// Nobody gets here.
    ///
    /// # Errors
    /// Never.
    pub fn token(&self, _: &mut dyn fmt::Write, _: &Claims<'_>) -> fmt::Result {
        match self.0 {}
    }

    /// Nobody gets here.
    #[must_use]
    pub fn published(&self) -> JwkSet {
        match self.0 {}
    }
}

/// There is none.
pub struct JwkSet(Infallible);

impl JwkSet {
    /// Nobody gets here.
    pub fn fill(&mut self, _: &mut [u8]) -> usize {
        match self.0 {}
    }
}

/// There are no tokens.
#[must_use]
pub const fn token_max(_: usize, _: usize, _: usize) -> usize {
    0
}

/// Nothing is signed.
///
/// # Errors
/// Always.
pub fn hmac_token(_: &[u8], _: Option<&str>, _: &mut dyn fmt::Write, _: &Claims<'_>) -> fmt::Result {
    Err(fmt::Error)
}
