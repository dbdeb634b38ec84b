//! What the agents see of the device: the board's instruments, and what is the same on every board.

use embassy_sync::{blocking_mutex::raw::NoopRawMutex, signal::Signal};
use embassy_time::{Duration, Timer, with_timeout};

use super::{memo, network, presence::Presence};
use crate::{
    board::{Board, Instruments as _, Key, Position, Sensor, Trouble, here},
    mdns::Wanted,
    milli::Milli,
    reset::Reason,
    store::Store,
    wifi::NetworkChange,
};

/// The device, as agents and the console share it.
pub(crate) struct Desk {
    pub(super) instruments: here::Instruments,
    pub(super) store: Store<here::Flash>,
    pub(super) network: NetworkChange,
    pub(super) has_radio: bool,
    pub(super) restart: Signal<NoopRawMutex, ()>,
    /// Whom to ask for the time has changed.
    pub(super) time_server: Signal<NoopRawMutex, ()>,
    /// What it is called has changed.
    pub(super) name: Signal<NoopRawMutex, Wanted>,
    pub(super) presence: Presence,
}

/// A sensor that takes longer does not answer: a bus can hang, and must not take a worker with it.
const SENSOR_PATIENCE: Duration = Duration::from_secs(2);

impl Desk {
    /// Is there a radio, and a choice which network it joins?
    pub(super) fn can_change_network(&self) -> Result<(), Trouble> {
        if !self.has_radio {
            Err(Trouble("there is no radio on this board"))
        } else if network::built_in().is_some() {
            Err(Trouble("this image was built for one network, and joins no other"))
        } else {
            Ok(())
        }
    }
}

impl Board for Desk {
    fn sensors(&self) -> &[Sensor] {
        self.instruments.sensors()
    }

    async fn read(&self, sensor: usize) -> Result<Milli, Trouble> {
        let reading = with_timeout(SENSOR_PATIENCE, self.instruments.read(sensor)).await;
        reading.unwrap_or(Err(Trouble("the sensor does not answer")))
    }

    fn actuators(&self) -> &[&'static str] {
        self.instruments.actuators()
    }

    fn set(&self, actuator: usize, position: Position) -> Result<(), Trouble> {
        self.instruments.set(actuator, position)
    }

    fn reboot(&self) {
        self.restart.signal(());
    }

    fn forget_wifi(&self) -> Result<(), Trouble> {
        self.can_change_network()?;
        self.store.forget(Key::WIFI)
    }

    fn load(&self, key: Key, value: &mut [u8]) -> Option<usize> {
        self.store.load(key, value)
    }

    fn save(&self, key: Key, value: &[u8]) -> Result<(), Trouble> {
        self.store.save(key, value)
    }
}

/// Restarts when somebody asks for it, late enough for whoever asked to hear that it will.
#[embassy_executor::task]
pub(super) async fn restart_when_asked(desk: &'static Desk) {
    desk.restart.wait().await;
    Timer::after_millis(500).await;
    defmt::info!("restart");
    memo::restart(Reason::Asked, format_args!(""))
}
