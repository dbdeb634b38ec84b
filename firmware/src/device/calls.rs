//! Whom this device may call: what was kept, in memory of its own.

use static_cell::{ConstStaticCell, StaticCell};

use crate::{
    board::here,
    reach::{Allowed, Reach, WEBHOOK_BYTES},
    roots::{ROOTS_BYTES, RootList, Roots},
    store::Store,
};

/// Finds what the owner has allowed and whom it trusts. What is typed from now on counts at the next start.
///
/// # Panics
/// If it is called twice.
pub(super) fn recall(store: &Store<here::Flash>) -> Reach<'static> {
    static LINE: ConstStaticCell<[u8; WEBHOOK_BYTES]> = ConstStaticCell::new([0; WEBHOOK_BYTES]);
    static CERTIFICATES: ConstStaticCell<[u8; ROOTS_BYTES]> = ConstStaticCell::new([0; ROOTS_BYTES]);
    static ALLOWED: StaticCell<Allowed<'static>> = StaticCell::new();
    static ROOTS: StaticCell<RootList<'static>> = StaticCell::new();

    let allowed = ALLOWED.init(Allowed::recall(store, LINE.take()));
    let roots = ROOTS.init(Roots::new(store).recall(CERTIFICATES.take()));
    defmt::info!("{}; {=usize} root certificates", defmt::Display2Format(allowed), roots.len());
    Reach { is_on: allowed.is_on, webhooks: allowed.webhooks(), roots }
}
