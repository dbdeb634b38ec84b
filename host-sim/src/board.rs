//! The simulated board: sensors that look like some, a light that nobody sees.

use core::cell::Cell;
use std::io::{self, Write as _};

use firmware::{
    board::{Board, Key, Position, Sensor, Trouble},
    milli::Milli,
    simulated::{Model, Signal},
    store::Store,
};

use crate::store::SimFlash;

/// A board that exists only here. The same seed gives the same readings, whoever asks in between for another sensor.
pub struct SimBoard {
    seed: u64,
    fault: Option<Fault>,
    signals: [Cell<Signal>; SENSORS.len()],
    led: Cell<Position>,
    store: &'static Store<SimFlash>,
}

/// A sensor that breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Its place among the sensors.
    pub(crate) sensor: usize,
    /// Readings that it gives before.
    pub(crate) after: u32,
}

/// What the board can measure.
pub(crate) const SENSORS: [Sensor; 3] = [
    Sensor { name: "temperature", unit: "°C" },
    Sensor { name: "humidity", unit: "%" },
    Sensor { name: "pressure", unit: "hPa" },
];

/// How each of them behaves.
const MODELS: [Model; SENSORS.len()] = [
    Model::TEMPERATURE,
    Model { middle: 45_000, swing: 8_000, noise: 300, step: 100 },
    Model { middle: 1_013_250, swing: 9_000, noise: 100, step: 100 },
];

impl SimBoard {
    /// Makes a board that keeps what it has to keep in that store.
    pub(crate) fn new(seed: u64, fault: Option<Fault>, store: &'static Store<SimFlash>) -> Self {
        let board = Self {
            seed,
            fault,
            signals: [const { Cell::new(Signal::new(0)) }; SENSORS.len()],
            led: Cell::new(Position::Off),
            store,
        };
        board.start();
        board
    }

    /// Puts everything but the store where it is after power has come on.
    fn start(&self) {
        for (n, signal) in (0..).zip(&self.signals) {
            signal.set(Signal::new(self.seed.wrapping_add(n)));
        }
        self.led.set(Position::Off);
    }
}

impl Board for SimBoard {
    fn sensors(&self) -> &[Sensor] {
        &SENSORS
    }

    async fn read(&self, sensor: usize) -> Result<Milli, Trouble> {
        let (signal, model) = self.signals.get(sensor).zip(MODELS.get(sensor)).ok_or(Trouble::NOT_HERE)?;
        let mut now = signal.get();
        let value = now.next(*model);
        signal.set(now);
        match self.fault {
            Some(fault) if fault.sensor == sensor && now.readings() > fault.after => {
                Err(Trouble("the sensor does not answer"))
            }
            _ => Ok(value),
        }
    }

    fn actuators(&self) -> &[&'static str] {
        &["led"]
    }

    fn set(&self, actuator: usize, position: Position) -> Result<(), Trouble> {
        let name = self.actuators().get(actuator).ok_or(Trouble::NOT_HERE)?;
        self.led.set(position);
        say(format_args!("{name}: {position}"));
        Ok(())
    }

    fn reboot(&self) {
        self.start();
        say(format_args!("reboot: the simulated device has restarted"));
    }

    fn forget_wifi(&self) -> Result<(), Trouble> {
        say(format_args!("forget wifi: the simulated device has none to forget"));
        Ok(())
    }

    fn load(&self, key: Key, value: &mut [u8]) -> Option<usize> {
        self.store.load(key, value)
    }

    fn save(&self, key: Key, value: &[u8]) -> Result<(), Trouble> {
        self.store.save(key, value)
    }
}

/// Tells whoever started us. If nobody listens any more that is no reason to end.
pub fn say(line: core::fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use core::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    /// Nothing on this board waits.
    fn now<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("it waits"),
        }
    }

    fn board(seed: u64, fault: Option<Fault>) -> SimBoard {
        SimBoard::new(seed, fault, Box::leak(Box::new(crate::store::open(None).expect("memory"))))
    }

    fn read(board: &SimBoard, sensor: usize, count: usize) -> Vec<i32> {
        (0..count).map(|_| now(board.read(sensor)).expect("it works").0).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_readings_whatever_else_is_read() {
        let (one, two) = (board(7, None), board(7, None));
        read(&two, 1, 5);
        assert_eq!(read(&one, 0, 50), read(&two, 0, 50));
        assert_ne!(read(&one, 0, 50), read(&board(8, None), 0, 50));
    }

    #[test]
    fn readings_look_like_some() {
        let board = board(1, None);
        for (sensor, model) in MODELS.iter().enumerate() {
            let values = read(&board, sensor, 1000);
            let (low, high) = (values.iter().min().unwrap(), values.iter().max().unwrap());
            assert!(*low >= model.middle - model.swing - model.noise - model.step);
            assert!(*high <= model.middle + model.swing + model.noise);
            assert!(high - low > model.swing, "it drifts");
            assert!(values.iter().all(|value| value % model.step == 0));
            let jump = values.windows(2).map(|pair| (pair[0] - pair[1]).abs()).max().unwrap();
            assert!(
                jump > 0 && jump <= 2 * model.noise + model.step + 2 * model.swing / 100,
                "it does not jump: {jump}"
            );
        }
    }

    #[test]
    fn breaks_when_it_is_told_to_and_a_reboot_starts_over() {
        let board = board(1, Some(Fault { sensor: 0, after: 3 }));
        let first = read(&board, 0, 3);
        assert!(now(board.read(0)).is_err() && now(board.read(0)).is_err());
        assert_eq!(read(&board, 1, 10).len(), 10);
        board.reboot();
        assert_eq!(read(&board, 0, 3), first);
        assert!(now(board.read(0)).is_err());
        assert!(now(board.read(SENSORS.len())).is_err());
    }

    #[test]
    fn what_is_kept_survives_a_reboot() {
        let board = board(1, None);
        let key = Key::calibration(0);
        let mut value = [0; 4];
        assert_eq!(board.load(key, &mut value), None);
        board.save(key, &[1, 2]).expect("there is room");
        board.save(key, &[3, 4, 5]).expect("there is room");
        board.reboot();
        assert_eq!(board.load(key, &mut value), Some(3));
        assert_eq!(value, [3, 4, 5, 0]);
        assert_eq!(board.load(key, &mut value[..2]), None);
        assert_eq!(board.load(Key::calibration(1), &mut value), None);
    }
}
