//! The readings that are kept for a report: the newest few of each sensor.

use core::{cell::RefCell, fmt};

use heapless::HistoryBuf;
use protocol_core::time::{Millis, UnixMillis};
use serde::{Serialize, Serializer};

use crate::{board::Sensor, milli::Milli};

/// How many readings are kept of each sensor.
pub(super) const KEPT: usize = 32;

/// The newest readings of one sensor, and when they were made.
#[derive(Debug)]
pub(super) struct Kept(RefCell<HistoryBuf<(Millis, Milli), KEPT>>);

impl Kept {
    pub(super) const fn new() -> Self {
        Self(RefCell::new(HistoryBuf::new()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Keeps a reading; the oldest goes if there are too many.
    pub(super) fn keep(&self, at: Millis, value: Milli) {
        self.0.borrow_mut().write((at, value));
    }
}

/// The readings as a table, oldest first. Where the wall time is not known the table has the time since the start.
pub(super) struct Csv<'a> {
    pub(super) kept: &'a Kept,
    pub(super) sensor: Sensor,
    /// Wall time at the start, if it is known.
    pub(super) booted_at: Option<UnixMillis>,
}

impl fmt::Display for Csv<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = if self.booted_at.is_some() { "time" } else { "uptimeMs" };
        write!(f, "{header},sensor,value,unit\r\n")?;
        for (at, value) in self.kept.0.borrow().oldest_ordered() {
            match self.booted_at {
                Some(boot) => write!(f, "{}", UnixMillis(boot.0.saturating_add(at.0)))?,
                None => write!(f, "{}", at.0)?,
            }
            write!(f, ",{},{value},{}\r\n", self.sensor.name, self.sensor.unit)?;
        }
        Ok(())
    }
}

/// The readings as data, for clients that want no file.
#[derive(Serialize)]
pub(super) struct Series<'a> {
    pub(super) sensor: &'static str,
    pub(super) unit: &'static str,
    /// Oldest first.
    #[serde(serialize_with = "values")]
    pub(super) values: &'a Kept,
}

fn values<S: Serializer>(kept: &&Kept, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(kept.0.borrow().oldest_ordered().map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use protocol_core::{
        Data, Piece,
        time::{Millis, UnixMillis},
    };

    use super::{Csv, KEPT, Kept, Series};
    use crate::{board::Sensor, milli::Milli};

    const SENSOR: Sensor = Sensor { name: "temperature", unit: "°C" };

    #[test]
    fn is_a_table_with_the_time_that_is_known() {
        let kept = Kept::new();
        kept.keep(Millis(1_000), Milli(21_500));
        kept.keep(Millis(2_000), Milli(-500));
        let csv = |booted_at| Csv { kept: &kept, sensor: SENSOR, booted_at }.to_string();
        assert_eq!(csv(None), "uptimeMs,sensor,value,unit\r\n1000,temperature,21.5,°C\r\n2000,temperature,-0.5,°C\r\n");
        let timed = csv(Some(UnixMillis(1_767_225_600_000)));
        assert!(
            timed.starts_with("time,sensor,value,unit\r\n2026-01-01T00:00:01.000Z,temperature,21.5,°C\r\n"),
            "{timed}"
        );
    }

    #[test]
    fn keeps_the_newest() {
        let kept = Kept::new();
        assert!(kept.is_empty());
        for n in 0..=KEPT {
            kept.keep(Millis(n as u64), Milli(i32::MIN + n as i32));
        }
        let csv = Csv { kept: &kept, sensor: SENSOR, booted_at: None }.to_string();
        assert_eq!(csv.lines().count(), KEPT + 1);
        assert!(csv.contains("\n1,") && !csv.contains("\n0,"), "{csv}");
        let data = Data::<512>::of(&Series { sensor: "temperature", unit: "°C", values: &kept }).expect("it fits");
        let Piece::Data(json) = data.piece() else { panic!("it is data") };
        assert_eq!(json.member("values").expect("values").items().count(), KEPT);
    }
}
