//! The RP2350's own generator of chance.

use embassy_rp::{
    Peri, bind_interrupts,
    peripherals::TRNG,
    trng::{Config, InterruptHandler, Trng},
};
use embassy_time::{Duration, with_timeout};

use crate::entropy::{self, Pot};

bind_interrupts!(struct Irqs {
    TRNG_IRQ => InterruptHandler<TRNG>;
});

/// Stirs in a kilobit of it. The generator tests what it gives; where that never passes, it is left out.
pub(super) async fn stir(pot: &mut Pot, trng: Peri<'static, TRNG>) {
    const PIECES: usize = 4;
    const PATIENCE: Duration = Duration::from_secs(1);
    let mut source = Trng::new(trng, Irqs, Config::default());
    for _ in 0..PIECES {
        let mut piece = [0; entropy::BYTES];
        if with_timeout(PATIENCE, source.fill_bytes(&mut piece)).await.is_err() {
            defmt::warn!("the chip's generator of chance fails its own tests: the ring oscillator has to do");
            return;
        }
        pot.stir(&piece);
    }
}
