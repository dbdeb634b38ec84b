//! The radio of an Espressif chip, and what its many reasons mean.

use embassy_time::{Duration, with_timeout};
use esp_hal::peripherals::WIFI;
use esp_radio::wifi::{
    AuthenticationMethodConfig, Config, ConnectionError, ControllerConfig, DisconnectReason, WifiController, WifiError,
    sta::StationConfig,
};

use crate::wifi::{self, JoinError, Network};

/// The radio, as a station.
pub(crate) struct Radio(WifiController<'static>);

/// Longer than the driver takes to scan all channels and to try twice.
const JOIN_PATIENCE: Duration = Duration::from_secs(20);
/// To leave is one frame. The driver's answer can get lost: nobody waits for it for long.
const LEAVE_PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked whether a loss went unheard.
const LOOK_EVERY: Duration = Duration::from_secs(5);

impl Radio {
    /// Turns the radio on. It stays on: a device that is asked something should answer at once, so it does not doze
    /// between beacons.
    ///
    /// # Panics
    /// If the radio does not start, which a restart may help.
    pub(super) fn start(wifi: WIFI<'static>) -> Self {
        Self(WifiController::new(wifi, ControllerConfig::default()).expect("the radio starts"))
    }
}

impl wifi::Radio for Radio {
    async fn join(&mut self, network: &Network) -> Result<(), JoinError> {
        // A call that was dropped may have left it half way. If it is in no network that is fine, too.
        let _ = with_timeout(LEAVE_PATIENCE, self.0.disconnect_async()).await;
        let config = station(network).map_err(|_| JoinError::Radio)?;
        self.0.set_config(&Config::Station(config)).map_err(|_| JoinError::Radio)?;
        match with_timeout(JOIN_PATIENCE, self.0.connect_async()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(ConnectionError::Failed(failed))) => {
                defmt::debug!("the driver says: {}", failed.reason);
                Err(meaning(failed.reason, network))
            }
            Ok(Err(_)) => Err(JoinError::Radio),
            Err(_) => Err(JoinError::Timeout),
        }
    }

    async fn wait_until_lost(&mut self) {
        while self.0.is_connected() {
            // Its end is looked at above, as is a loss just before it listened.
            let _ = with_timeout(LOOK_EVERY, self.0.wait_for_disconnect_async()).await;
        }
    }
}

fn station(network: &Network) -> Result<StationConfig, WifiError> {
    let authentication = match network.password() {
        "" => AuthenticationMethodConfig::Open,
        // That or better: WPA3, too, but nothing older.
        password => AuthenticationMethodConfig::Wpa2Personal(password.try_into()?),
    };
    Ok(StationConfig::default().with_ssid(network.ssid().try_into()?).with_authentication(authentication))
}

fn meaning(reason: DisconnectReason, network: &Network) -> JoinError {
    match reason {
        DisconnectReason::NoAccessPointFound | DisconnectReason::NoAccessPointFoundInRssiThreshold => {
            JoinError::NoSuchNetwork
        }
        // A wrong key shows itself when both sides try to use it: what one cannot read is left without an answer.
        DisconnectReason::AuthenticationFailed
        | DisconnectReason::FourWayHandshakeTimeout
        | DisconnectReason::HandshakeTimeout
        | DisconnectReason::MicFailure => JoinError::WrongPassword,
        // It is there, but not as safe as was asked for; or it asks for a key and there is none.
        DisconnectReason::NoAccessPointFoundWithCompatibleSecurity
        | DisconnectReason::NoAccessPointFoundInAuthmodeThreshold => {
            if network.password().is_empty() {
                JoinError::WrongPassword
            } else {
                JoinError::Refused
            }
        }
        DisconnectReason::AuthenticationExpired
        | DisconnectReason::BeaconTimeout
        | DisconnectReason::MissingAcks
        | DisconnectReason::Timeout
        | DisconnectReason::ConnectionFailed => JoinError::Timeout,
        _ => JoinError::Refused,
    }
}
