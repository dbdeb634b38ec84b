//! What is there where signing was left out: nothing that anybody could have.

use core::{convert::Infallible, marker::PhantomData};

use embedded_storage_async::nor_flash::NorFlash;
use protocol_core::json::Sink;

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
    #[must_use]
    pub fn seal(&self, _: &Claims<'_>) -> Option<Seal<'static>> {
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

/// There is none.
#[derive(Clone, Debug)]
pub struct Seal<'i>(Infallible, PhantomData<&'i str>);

impl Seal<'_> {
    /// Nobody gets here.
    pub fn write_token(&self, _: &mut dyn Sink, _: &Claims<'_>) {
        match self.0 {}
    }
}

/// Nothing is signed.
#[must_use]
pub fn seal_shared<'i>(_: &[u8], _: Option<&'i str>, _: &Claims<'_>) -> Option<Seal<'i>> {
    None
}
