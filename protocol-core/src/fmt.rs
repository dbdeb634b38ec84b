//! Logging through defmt, through `log`, or not at all.

#[cfg(all(feature = "defmt", feature = "log"))]
compile_error!("features `defmt` and `log` exclude each other: a device logs through defmt, a host through log");

macro_rules! debug {
    ($($arg:tt)*) => {{
        #[cfg(feature = "defmt")]
        ::defmt::debug!($($arg)*);
        #[cfg(feature = "log")]
        ::log::debug!($($arg)*);
        #[cfg(not(any(feature = "defmt", feature = "log")))]
        let _ = || ::core::format_args!($($arg)*).as_str().is_some();
    }};
}

macro_rules! info {
    ($($arg:tt)*) => {{
        #[cfg(feature = "defmt")]
        ::defmt::info!($($arg)*);
        #[cfg(feature = "log")]
        ::log::info!($($arg)*);
        #[cfg(not(any(feature = "defmt", feature = "log")))]
        let _ = || ::core::format_args!($($arg)*).as_str().is_some();
    }};
}

macro_rules! warning {
    ($($arg:tt)*) => {{
        #[cfg(feature = "defmt")]
        ::defmt::warn!($($arg)*);
        #[cfg(feature = "log")]
        ::log::warn!($($arg)*);
        #[cfg(not(any(feature = "defmt", feature = "log")))]
        let _ = || ::core::format_args!($($arg)*).as_str().is_some();
    }};
}

pub(crate) use {debug, info, warning};
