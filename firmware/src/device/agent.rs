//! The agent that the image runs: all that there is to change for another one (docs/your-first-skill.md).

use protocol_core::Profile;

use super::desk::Desk;
use crate::agents::sensor::{self, SensorNode};

/// No board here has more than one sensor.
pub(super) type Shipped = SensorNode<'static, Desk, 1>;

/// What it says about itself.
pub(super) const PROFILE: Profile<'static> = sensor::PROFILE;

/// Makes it, from what the board has.
pub(super) fn make(desk: &'static Desk) -> Shipped {
    SensorNode::new(desk)
}
